/* context.c - lets one step after the other to the runner, and survives the runner's end. */
#include "context.h"

#include "environment.h"
#include "log.h"
#include "output_pieces.h"
#include "runner.h"
#include "start_output.h"
#include "step.h"
#include "step_queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds a runner may take to become ready. */
#define START_SECONDS 60.0
/* Seconds a runner may take to leave after the code called exit(). */
#define LEAVE_SECONDS 2.0
/* Seconds that an interrupt waits for its step to begin, see interrupt_current(). */
#define BEGIN_SECONDS 0.5
/* Bytes of a message that is not passed on, at most. */
#define SMALL_MESSAGE 1024

struct context {
    const struct context_settings *settings;
    char id[UUID_SIZE];
    const struct language *language;
    char *cwd;
    json_t *envs;          /* the context's own, or NULL */
    struct runner *runner; /* NULL when there is none: the next step starts one */
    bool ready;            /* it takes steps */
    bool leaving;          /* the code called exit(): it ends soon */
    bool restarted;        /* the latest one was lost, and no step was told yet */
    struct step *current;  /* not queued and not done */
    step_queue queue;
    struct ev_timer deadline; /* of starting, leaving, or ignoring an interrupt */
    struct ev_timer begin;    /* of an interrupt for a step that has not begun */
    struct start_output start_output;
    output_pieces pieces;
};

static void advance(struct context *context);

static void set_deadline(struct context *context, double seconds) {
    ev_timer_stop(context->settings->loop, &context->deadline);
    if (seconds > 0.0) {
        ev_timer_set(&context->deadline, seconds, 0.0);
        ev_timer_start(context->settings->loop, &context->deadline);
    }
}

static bool has_code(const struct step *step) {
    return step && (step->state == STEP_RUNNING || step->state == STEP_INTERRUPTING);
}

/* Whether code whose client left keeps others waiting. */
static bool is_in_the_way(const struct context *context) {
    const struct step *step = context->current;
    return step && step->state == STEP_INTERRUPTING && !step->stream && context->queue.first;
}

/* Such code has a limited time to heed its interrupt. */
static void limit_ignoring(struct context *context) {
    if (is_in_the_way(context) && !ev_is_active(&context->deadline))
        set_deadline(context, context->settings->interrupt_grace);
}

/* The current step is over; it has been told everything but the end. */
static void finish_current(struct context *context) {
    struct step *step = context->current;
    context->current = NULL;
    ev_timer_stop(context->settings->loop, &context->begin);
    output_pieces_end(&context->pieces);
    /* Its reader may have lagged; nobody else would let the runner go on. */
    if (context->runner)
        runner_hold(context->runner, false);
    step_finish(step);
}

static void write_piece(void *user, const char *line, size_t length) {
    struct context *context = user;
    if (context->current)
        step_write_piece(context->current, line, length);
}

static void on_drain(void *user) {
    struct context *context = user;
    if (context->runner)
        runner_hold(context->runner, false);
}

static void hold_when_client_is_slow(struct context *context) {
    if (context->runner && step_pending(context->current) > HTTP_STREAM_HIGH)
        runner_hold(context->runner, true);
}

static void on_output(void *user, int stream, const char *bytes, size_t length) {
    struct context *context = user;
    if (!context->ready) {
        start_output_add(&context->start_output, bytes, length);
    } else if (has_code(context->current) && context->current->stream) {
        size_t passes = output_budget_take(&context->current->budget, stream, bytes, length);
        output_pieces_add(&context->pieces, stream, bytes, passes);
        hold_when_client_is_slow(context);
    }
    /* Between steps, and when nobody listens, it is read and thrown away. */
}

static void run_current(struct context *context) {
    struct step *step = context->current;
    output_pieces_drop(&context->pieces);
    step_enter(step, STEP_RUNNING);
    if (runner_run(context->runner, step->code, step->envs) == 0)
        return;
    log_error("out of memory: a step was not run");
    step_write_error(step, "OutOfMemory", "The sandbox is out of memory", "");
    finish_current(context);
}

/* A signal that comes before the runner has begun with the code, or after its end, means nothing to
 * it. So it is sent once the step is counted, which is the first that a runner says of it. Where
 * that does not come, something between the steps keeps the runner busy, and the signal is for
 * that. */
static void interrupt_current(struct context *context) {
    step_enter(context->current, STEP_INTERRUPTING);
    if (context->current->counted) {
        runner_interrupt(context->runner);
        return;
    }
    ev_timer_set(&context->begin, BEGIN_SECONDS, 0.0);
    ev_timer_start(context->settings->loop, &context->begin);
}

static void on_not_begun(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct context *context = timer->data;
    runner_interrupt(context->runner);
}

static void begin_counted(struct context *context, json_int_t count) {
    struct step *step = context->current;
    step_write_count(step, count, context->restarted);
    context->restarted = false;
    if (ev_is_active(&context->begin)) {
        ev_timer_stop(context->settings->loop, &context->begin);
        runner_interrupt(context->runner);
    }
}

static void on_event(struct context *context, const char *type, const char *line, size_t length) {
    struct step *step = context->current;
    output_pieces_flush(&context->pieces);
    bool is_error = strcmp(type, "error") == 0;
    if (is_error || strcmp(type, "result") == 0) {
        (is_error ? step_write_code_error : step_write_result)(step, line, length);
        hold_when_client_is_slow(context);
        return;
    }
    json_t *message = length <= SMALL_MESSAGE ? json_loadb(line, length, 0, NULL) : NULL;
    if (strcmp(type, "number_of_executions") == 0) {
        const json_t *count = json_object_get(message, "execution_count");
        if (!step->counted && json_is_integer(count))
            begin_counted(context, json_integer_value(count));
    } else if (strcmp(type, "end") == 0) {
        set_deadline(context, 0.0);
        finish_current(context);
        if (json_is_true(json_object_get(message, "exit"))) {
            context->leaving = true;
            set_deadline(context, LEAVE_SECONDS);
        }
        advance(context);
    } else {
        log_debug("a runner sent an unknown message: %s", type);
    }
    json_decref(message);
}

static void on_message(void *user, const char *type, const char *line, size_t length) {
    struct context *context = user;
    if (strcmp(type, "ready") == 0) {
        if (context->ready)
            return;
        context->ready = true;
        set_deadline(context, 0.0);
        if (context->current)
            run_current(context);
        advance(context);
    } else if (has_code(context->current)) {
        on_event(context, type, line, length);
    }
}

static void tell_start_failure(struct context *context, const char *why) {
    char value[200];
    snprintf(value, sizeof value, "The %s runner %s", context->language->name, why);
    json_t *text = start_output_text(&context->start_output);
    step_write_error(context->current, "ContextStartError", value,
                     text ? json_string_value(text) : "");
    json_decref(text);
    finish_current(context);
}

/* What a step is told whose runner is gone. */
#define RESTARTED "Context was restarted"
#define RESTARTED_KILLED                                                                           \
    RESTARTED ": its runner was killed by signal 9 (out of memory, unless the code did it)"

/* The runner is gone, by itself or killed by us. */
static void lose_runner(struct context *context, const char *start_failure, bool by_us) {
    bool was_ready = context->ready;
    const char *why = !by_us && runner_was_killed(context->runner) ? RESTARTED_KILLED : RESTARTED;
    runner_free(context->runner);
    context->runner = NULL;
    context->ready = context->leaving = false;
    set_deadline(context, 0.0);
    if (was_ready)
        context->restarted = true;
    if (has_code(context->current)) {
        output_pieces_end(&context->pieces);
        step_write_error(context->current, "ContextRestarting", why, "");
        finish_current(context);
    } else if (context->current) {
        tell_start_failure(context, start_failure);
    }
    advance(context);
}

static void on_ended(void *user) {
    lose_runner(user, "ended before it was ready", false);
}

static void on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct context *context = timer->data;
    if (context->ready && !context->leaving && !is_in_the_way(context))
        return; /* those who waited have left */
    log_info("context %s: its runner is killed, it did not %s in time", context->id,
             !context->ready    ? "start"
             : context->leaving ? "leave"
                                : "heed an interrupt");
    lose_runner(context, "took too long to start", true);
}

static bool start_runner(struct context *context) {
    static const runner_events events = {on_output, on_message, on_ended};
    const struct context_settings *settings = context->settings;
    json_t *envs = environment_merge(*settings->envs, context->envs);
    context->start_output.length = 0;
    context->runner = !envs ? NULL
                            : runner_start(settings->loop,
                                           &(runner_options){.language = context->language,
                                                             .runners = settings->runners,
                                                             .cwd = context->cwd,
                                                             .home = settings->home,
                                                             .envs = envs,
                                                             .source = settings->source},
                                           &events, context);
    json_decref(envs);
    if (!context->runner) {
        log_error("cannot start a runner: %s", strerror(errno));
        return false;
    }
    set_deadline(context, START_SECONDS);
    return true;
}

/* Takes the next step when the runner is free for it. */
static void advance(struct context *context) {
    while (!context->current && !context->leaving && context->queue.first) {
        struct step *step = context->current = step_queue_take(&context->queue);
        step_enter(step, STEP_STARTING);
        http_stream_on_drain(step->stream, on_drain, context);
        if (!context->runner && !start_runner(context))
            tell_start_failure(context, "could not be started");
        else if (context->ready)
            run_current(context);
    }
    limit_ignoring(context);
}

static void on_client_gone(struct step *step, void *user) {
    struct context *context = user;
    if (step != context->current) {
        step_queue_remove(&context->queue, step);
        step_enter(step, STEP_DONE);
        step_free(step);
        return;
    }
    output_pieces_drop(&context->pieces);
    if (context->runner)
        runner_hold(context->runner, false);
    if (step->state == STEP_STARTING) {
        context->current = NULL;
        step_enter(step, STEP_DONE);
        step_free(step);
        advance(context);
        return;
    }
    if (step->state == STEP_RUNNING)
        interrupt_current(context);
    limit_ignoring(context);
}

struct context *context_new(const struct context_settings *settings,
                            const struct language *language, const char *cwd, const json_t *envs) {
    struct context *context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    context->settings = settings;
    context->language = language;
    context->cwd = strdup(cwd);
    context->envs = envs ? json_copy((json_t *)envs) : NULL;
    if (!context->cwd || (envs && !context->envs) || uuid_make(context->id)) {
        json_decref(context->envs);
        free(context->cwd);
        free(context);
        return NULL;
    }
    output_pieces_init(&context->pieces, settings->loop, write_piece, context);
    ev_timer_init(&context->deadline, on_deadline, 0.0, 0.0);
    ev_timer_init(&context->begin, on_not_begun, 0.0, 0.0);
    context->deadline.data = context->begin.data = context;
    start_runner(context); /* when that fails the first step tries again, and tells */
    return context;
}

/* Ends the current step as the recorded server does when its kernel is taken away. */
static void end_without_runner(struct context *context) {
    struct step *step = context->current;
    output_pieces_end(&context->pieces);
    step_write_error(step, "WebSocketError",
                     "The connections was lost, rerun the code to get the results", "");
    step_write_error(step, "UnexpectedEndOfExecution",
                     "Connection to the execution was closed before the execution was finished",
                     "");
    finish_current(context);
}

void context_free(struct context *context) {
    set_deadline(context, 0.0);
    runner_free(context->runner);
    context->runner = NULL;
    if (context->current)
        end_without_runner(context);
    while ((context->current = step_queue_take(&context->queue)))
        end_without_runner(context);
    output_pieces_drop(&context->pieces);
    json_decref(context->envs);
    free(context->cwd);
    free(context);
}

const char *context_id(const struct context *context) {
    return context->id;
}

const struct language *context_language(const struct context *context) {
    return context->language;
}

const char *context_cwd(const struct context *context) {
    return context->cwd;
}

void context_run(struct context *context, http_request *request, json_t *code, json_t *envs) {
    struct step *step =
        step_new(request, code, envs, context->settings->output, on_client_gone, context);
    if (!step)
        return;
    step_queue_add(&context->queue, step);
    advance(context);
}

bool context_interrupt(struct context *context) {
    struct step *step = context->current;
    if (!step)
        return false;
    if (step->state == STEP_STARTING) {
        step_write_error(step, "KeyboardInterrupt", "", "");
        finish_current(context);
        advance(context);
        return true;
    }
    interrupt_current(context);
    return true;
}

void context_restart(struct context *context) {
    runner_free(context->runner);
    context->runner = NULL;
    context->ready = context->leaving = context->restarted = false;
    set_deadline(context, 0.0);
    if (context->current && has_code(context->current)) {
        end_without_runner(context);
    } else if (context->current) {
        /* It had not begun: it goes on with the new runner. */
        if (!start_runner(context))
            tell_start_failure(context, "could not be started");
        advance(context);
        return;
    }
    start_runner(context);
    advance(context);
}
