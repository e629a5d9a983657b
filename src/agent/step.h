/*
 * step.h - one request to run code: its state, and the stream of events it answers with.
 */
#ifndef STEPBOX_STEP_H
#define STEPBOX_STEP_H

#include "http_server.h"
#include "output_budget.h"

typedef enum step_state {
    STEP_QUEUED,       /* behind other steps of its context */
    STEP_STARTING,     /* its context's runner is being started */
    STEP_RUNNING,      /* the runner has the code */
    STEP_INTERRUPTING, /* the code was interrupted and has not ended yet */
    STEP_DONE
} step_state;

struct step {
    struct step *next; /* in the context's queue */
    struct ev_loop *loop;
    http_stream *stream; /* NULL when the client is gone */
    json_t *code;
    json_t *envs; /* or NULL */
    step_state state;
    bool counted; /* the runner has begun with the code: the event number_of_executions came */
    output_budget budget;
    struct ev_timer keepalive;
    void (*on_gone)(struct step *step, void *user);
    void *user;
};

/* Begins the answer to the request, which may have so many bytes of output (0: any number). on_gone
 * is called when the client leaves before the end; it must step_free() now or later. NULL when out
 * of memory: the request was answered then. */
struct step *step_new(http_request *request, json_t *code, json_t *envs, uint64_t output,
                      void (*on_gone)(struct step *step, void *user), void *user);
/* Frees it; a stream that has not ended is cut. */
void step_free(struct step *step);
/* The one place where the state changes. */
void step_enter(struct step *step, step_state state);

/* Writes a line of the answer; the newline is not part of it. */
void step_write(struct step *step, const char *line, size_t length);
/* A piece of output, its newline included; of what it says the budget was asked. */
void step_write_piece(struct step *step, const char *line, size_t length);
/* A result or an error of the code, as far as the budget goes. */
void step_write_result(struct step *step, const char *line, size_t length);
void step_write_code_error(struct step *step, const char *line, size_t length);
void step_write_count(struct step *step, json_int_t count, bool restarted);
void step_write_error(struct step *step, const char *name, const char *value,
                      const char *traceback);
/* Ends the answer properly, telling first what was dropped of it, and frees the step. */
void step_finish(struct step *step);
/* Bytes that the client has not taken. */
size_t step_pending(const struct step *step);

#endif
