/* step.c - see step.h */
#include "step.h"

#include "event_time.h"
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEPALIVE_SECONDS 5.0

static const char keepalive[] = "{\"type\": \"keepalive\"}\n";
static const char end_of_execution[] = "{\"type\": \"end_of_execution\"}\n";

void step_enter(struct step *step, step_state state) {
    static const char *const names[] = {"queued", "starting", "running", "interrupting", "done"};
    log_debug("step %p: %s -> %s", (void *)step, names[step->state], names[state]);
    step->state = state;
}

static void on_silence(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct step *step = timer->data;
    http_stream_write(step->stream, keepalive, sizeof keepalive - 1);
}

static void on_client_gone(void *user) {
    struct step *step = user;
    ev_timer_stop(step->loop, &step->keepalive);
    http_stream_end(step->stream);
    step->stream = NULL;
    step->on_gone(step, step->user);
}

struct step *step_new(http_request *request, json_t *code, json_t *envs, uint64_t output,
                      void (*on_gone)(struct step *step, void *user), void *user) {
    struct step *step = calloc(1, sizeof *step);
    if (!step) {
        http_reply(request, 503, "text/plain; charset=utf-8", "out of memory", 13);
        return NULL;
    }
    step->loop = http_request_loop(request);
    step->code = json_incref(code);
    step->envs = json_incref(envs);
    output_budget_begin(&step->budget, output);
    step->on_gone = on_gone;
    step->user = user;
    http_request_on_gone(request, on_client_gone, step);
    step->stream = http_stream_start(request, 200, NULL);
    ev_timer_init(&step->keepalive, on_silence, KEEPALIVE_SECONDS, KEEPALIVE_SECONDS);
    step->keepalive.data = step;
    ev_timer_start(step->loop, &step->keepalive);
    return step;
}

void step_free(struct step *step) {
    ev_timer_stop(step->loop, &step->keepalive);
    if (step->stream)
        http_stream_abort(step->stream);
    json_decref(step->code);
    json_decref(step->envs);
    free(step);
}

static void write_whole(struct step *step, const char *line, size_t length) {
    if (!step->stream)
        return;
    http_stream_write(step->stream, line, length);
    ev_timer_again(step->loop, &step->keepalive);
}

void step_write(struct step *step, const char *line, size_t length) {
    write_whole(step, line, length);
    write_whole(step, "\n", 1);
}

/* Of a piece, what is not its text: names, marks and the time. */
#define PIECE_FRAME 80

void step_write_piece(struct step *step, const char *line, size_t length) {
    write_whole(step, line, length);
    output_budget_piece(&step->budget, length < PIECE_FRAME ? 0 : length - PIECE_FRAME);
}

void step_write_result(struct step *step, const char *line, size_t length) {
    if (output_budget_take_result(&step->budget, length))
        step_write(step, line, length);
}

void step_write_code_error(struct step *step, const char *line, size_t length) {
    if (output_budget_take_error(&step->budget, length))
        step_write(step, line, length);
}

/* Takes the reference; NULL when it could not be made. */
static void write_json(struct step *step, json_t *event) {
    char *line = event ? json_dumps(event, JSON_ENSURE_ASCII) : NULL;
    if (line) {
        step_write(step, line, strlen(line));
    } else if (step->stream) {
        /* An event that is missing must not look like one that never was. */
        log_error("out of memory: a step's answer is cut");
        http_stream_abort(step->stream);
        step->stream = NULL;
        ev_timer_stop(step->loop, &step->keepalive);
    }
    free(line);
    json_decref(event);
}

void step_write_count(struct step *step, json_int_t count, bool restarted) {
    json_t *event =
        json_pack("{s:s, s:I}", "type", "number_of_executions", "execution_count", count);
    if (event && restarted)
        json_object_set_new(event, "restarted", json_true());
    write_json(step, event);
    step->counted = true;
}

void step_write_error(struct step *step, const char *name, const char *value,
                      const char *traceback) {
    step->budget.has_error = true;
    write_json(step, json_pack("{s:s, s:s, s:s, s:s}", "type", "error", "name", name, "value",
                               value, "traceback", traceback));
}

/* A line on stderr for any client, with the numbers beside it for those who look for them. Where
 * there was a result that nobody gets, the step has an error, unless the code had one. */
static void tell_dropped(struct step *step) {
    const output_budget *budget = &step->budget;
    char text[OUTPUT_BUDGET_TEXT], line[OUTPUT_BUDGET_TEXT + 20], now[EVENT_TIME_SIZE];
    output_budget_tell(budget, "step", text);
    snprintf(line, sizeof line, "%s[stepbox: %s]\n", budget->mid_line ? "\n" : "", text);
    event_time_now(now);
    write_json(step, json_pack("{s:s, s:s, s:s, s:{s:I, s:I, s:I}}", "type", "stderr", "text", line,
                               "timestamp", now, "dropped", "stdout",
                               (json_int_t)budget->dropped[OUTPUT_BUDGET_STDOUT], "stderr",
                               (json_int_t)budget->dropped[OUTPUT_BUDGET_STDERR], "results",
                               (json_int_t)budget->result_bytes));
    if (budget->results && !budget->has_error)
        step_write_error(step, "OutputLimitExceeded", text, "");
}

void step_finish(struct step *step) {
    step_enter(step, STEP_DONE);
    if (step->stream && output_budget_is_over(&step->budget))
        tell_dropped(step);
    if (step->stream) {
        http_stream_write(step->stream, end_of_execution, sizeof end_of_execution - 1);
        http_stream_end(step->stream);
        step->stream = NULL;
    }
    step_free(step);
}

size_t step_pending(const struct step *step) {
    return step->stream ? http_stream_pending(step->stream) : 0;
}
