#include "process_follow.h"

#include "process_kill.h"
#include "timestamp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Only connecting has a bound of its own; the command's deadline is for the rest. Seconds. */
#define CONNECT_SECONDS 30.0
/* After the process's end the answer has this long to end too. */
#define END_SECONDS 1.0

static void take_pid(sb_op *op) {
    const struct sbi_follow *follow = op->data;
    if (op->pid == 0 && follow->output.pid != 0) {
        op->pid = follow->output.pid;
        sbi_op_mark_ready(op);
    }
}

static int on_data(void *user, const char *bytes, size_t length, sb_error *err) {
    sb_op *op = user;
    struct sbi_follow *follow = op->data;
    bool had_ended = follow->output.has_ended;
    int status = sbi_command_output_data(&follow->output, op->exchange, bytes, length, err);
    take_pid(op);
    if (follow->events.first != NULL) {
        sbi_op_mark_ready(op);
    }
    if (follow->output.has_ended && !had_ended) {
        sbi_exchange_end_within(op->exchange, END_SECONDS);
    }
    return status;
}

static bool is_full(void *user) {
    const sb_op *op = user;
    return op->events != NULL && sbi_events_are_full(op->events);
}

static const struct sbi_stream stream = {on_data, is_full};

static int fail_late(const struct sbi_follow *follow, int status, sb_error *err) {
    return sbi_fail_status(err, SB_TIMEOUT, status, "it did not end within %g s", follow->timeout);
}

static bool is_late(const struct sbi_follow *follow) {
    return (double)(sbi_now() - follow->started) / 1e9 >= follow->timeout;
}

static int explain(const struct sbi_follow *follow, const struct sbi_exchange *exchange,
                   sb_error *err) {
    if (follow->output.has_ended) {
        /* A server may tell of the kill before it tells, or instead of telling, that the time was
         * over. */
        return !follow->output.has_exited && follow->grace > 0 && is_late(follow)
                   ? fail_late(follow, exchange->status, err)
                   : 0;
    }
    if (sbi_command_output_result(&follow->output, exchange, err) == 0) {
        return 0;
    }
    return err->code == SB_TIMEOUT && isfinite(follow->timeout)
               ? fail_late(follow, exchange->status, err)
               : -1;
}

/* The local engine's agent ends a bound process when its stream goes away; others are told to. */
static bool must_be_killed(const struct sbi_follow *follow) {
    return follow->is_bound && !follow->output.has_ended && !follow->box->config->local &&
           !follow->box->is_ending;
}

static void kill_process(const sb_op *op) {
    const struct sbi_follow *follow = op->data;
    if (op->pid != 0 && must_be_killed(follow)) {
        sbi_process_kill(follow->box, op->pid, follow->user);
    }
}

static void on_done(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct sbi_follow *follow = op->data;
    sb_error error = {0};
    if (explain(follow, exchange, &error) != 0) {
        kill_process(op);
    }
    sbi_box_explain_closed(follow->box, &error);
    sbi_op_finish(op, &error);
}

void sbi_follow_cancelling(sb_op *op) {
    struct sbi_follow *follow = op->data;
    if (op->pid == 0 && op->exchange->state == SBI_EXCHANGE_TRANSFER && must_be_killed(follow) &&
        sbi_process_kill_later(follow->box, op->exchange, &follow->output.stream, follow->user)) {
        op->exchange = NULL;
    }
}

void sbi_follow_cancelled(sb_op *op) {
    take_pid(op); /* the last bytes may have brought it */
    kill_process(op);
}

void sbi_follow_release(sb_op *op) {
    struct sbi_follow *follow = op->data;
    sbi_command_output_free(&follow->output);
    sbi_events_free(&follow->events);
    sbi_box_release(follow->box);
    free(follow->command);
    free(follow->user);
    free(follow);
}

const sb_command_result *sbi_follow_command(const sb_op *op) {
    struct sbi_follow *follow = op->data;
    return sbi_command_output_view(&follow->output, follow->command);
}

static int copy(char **to, const char *text, sb_error *err) {
    if (text == NULL) {
        return 0;
    }
    *to = strdup(text);
    return *to != NULL ? 0 : sbi_no_memory(err);
}

sb_op *sbi_follow_new(sb_box *box, const struct sbi_op_kind *kind,
                      const struct sbi_follow_options *options, sb_error *err) {
    if (!(options->timeout >= 0)) {
        sbi_fail(err, SB_INVALID, "timeout: must be more than 0 seconds");
        return NULL;
    }
    sb_op *op = sbi_op_new_sized(box->loop, kind, sizeof(struct sbi_follow), err);
    if (op == NULL) {
        return NULL;
    }
    struct sbi_follow *follow = op->data;
    op->events = options->events ? &follow->events : NULL;
    follow->box = sbi_box_keep(box);
    follow->started = sbi_now();
    follow->timeout = options->timeout;
    follow->grace = options->grace;
    follow->is_bound = options->is_bound;
    uint64_t max = options->max_output > 0 ? options->max_output : SB_DEFAULT_MAX_OUTPUT;
    sbi_command_output_init(&follow->output, max, op->events, options->missing);
    if (copy(&follow->command, options->command, err) != 0 ||
        copy(&follow->user, options->user, err) != 0) {
        sb_op_free(op);
        return NULL;
    }
    sbi_box_refuses(box, op);
    return op;
}

struct sbi_exchange *sbi_follow_exchange(sb_op *op, const char *path, json_t *message,
                                         sb_error *err) {
    const struct sbi_follow *follow = op->data;
    struct sbi_exchange *exchange = sbi_op_exchange(op, follow->box->config, on_done, err);
    if (exchange == NULL) {
        json_decref(message);
        return NULL;
    }
    if (sbi_rpc_stream_request(exchange, &follow->box->address, follow->user, path, message, err) !=
        0) {
        return NULL;
    }
    exchange->stream = &stream;
    double timeout = follow->timeout;
    if (isfinite(timeout)) {
        exchange->timeout = timeout + follow->grace;
        exchange->connect_timeout = timeout < CONNECT_SECONDS ? timeout : CONNECT_SECONDS;
    } else {
        /* Of the answer's begin alone: a process may take its time. */
        exchange->timeout_ends_at_answer = true;
    }
    return exchange;
}
