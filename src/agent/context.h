/*
 * context.h - a context: one runner whose state lives from step to step, and the steps that wait
 * for it. One step runs at a time.
 */
#ifndef STEPBOX_CONTEXT_H
#define STEPBOX_CONTEXT_H

#include "http_server.h"
#include "language.h"
#include "uuid.h"

struct context;

/* What all contexts of an agent share; it must outlive them. */
struct context_settings {
    struct ev_loop *loop;
    const char *runners;          /* the directory */
    const char *home;             /* where contexts start when nothing else is said */
    json_t *const *envs;          /* the variables every runner gets, as they are when it starts */
    struct runner_source *source; /* NULL without an engine */
    uint64_t output;              /* bytes that a step may put out; 0: any number */
    double interrupt_grace;       /* seconds code may ignore an interrupt while others wait */
};

/* Its runner is started at once; envs (or NULL) go with it, above those of the settings. NULL when
 * out of memory. */
struct context *context_new(const struct context_settings *settings,
                            const struct language *language, const char *cwd, const json_t *envs);
/* Kills the runner; steps that run or wait end with errors. */
void context_free(struct context *context);

const char *context_id(const struct context *context);
const struct language *context_language(const struct context *context);
const char *context_cwd(const struct context *context);

/* Answers the request with the events of a step. */
void context_run(struct context *context, http_request *request, json_t *code, json_t *envs);
/* Interrupts the running step; false when there is none. */
bool context_interrupt(struct context *context);
/* Starts afresh; a step that runs ends with errors, those that wait go on waiting. */
void context_restart(struct context *context);

#endif
