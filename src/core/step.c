#include "box.h"
#include "context_fault.h"
#include "op.h"
#include "sandbox.h"
#include "step_stream.h"
#include "timestamp.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A step's deadline decides alone; only connecting has a bound of its own. */
#define CONNECT_SECONDS 30.0
/* After the code's end the answer has this long to end too. */
#define END_SECONDS 1.0

struct step {
    sb_box *box;
    struct sbi_execution execution;
    struct sbi_step_stream stream;
    struct sbi_events events;
    int64_t started; /* sbi_now() time */
    double timeout;
    bool is_checked; /* the answer's type was looked at */
};

static int check_type(struct step *step, const struct sbi_exchange *exchange, sb_error *err) {
    step->is_checked = true;
    if (strncasecmp(exchange->content_type, "text/html", 9) == 0) {
        return sbi_fail(err, SB_PROTOCOL, "the answer is a page of HTML");
    }
    return 0;
}

static int on_data(void *user, const char *bytes, size_t length, sb_error *err) {
    sb_op *op = user;
    struct step *step = op->data;
    if (!step->is_checked && check_type(step, op->exchange, err) != 0) {
        return -1;
    }
    bool had_ended = step->stream.has_ended;
    int status = sbi_step_stream_data(&step->stream, bytes, length, err);
    if (step->events.first != NULL) {
        sbi_op_mark_ready(op);
    }
    if (step->stream.has_ended && !had_ended) {
        sbi_exchange_end_within(op->exchange, END_SECONDS);
    }
    return status;
}

static bool is_full(void *user) {
    const sb_op *op = user;
    return op->events != NULL && sbi_events_are_full(op->events);
}

static const struct sbi_stream step_stream = {on_data, is_full};

/* A transfer that failed before the code's end. */
static int explain_transfer(const struct step *step, const struct sbi_exchange *exchange,
                            sb_error *err) {
    if (step->stream.lost.code != SB_OK) {
        *err = step->stream.lost;
        return -1;
    }
    if (exchange->was_cut) {
        return sbi_fail_status(err, SB_SANDBOX_LOST, exchange->status,
                               "the connection was cut before the code's end");
    }
    if (exchange->error.code == SB_TIMEOUT) {
        return sbi_fail_status(err, SB_TIMEOUT, exchange->status,
                               "the code did not end within %g s", step->timeout);
    }
    return sbi_exchange_check(exchange, err);
}

static int explain(struct step *step, const struct sbi_exchange *exchange, sb_error *err) {
    if (exchange->error.code == SB_OK && exchange->status != 200) {
        if (sbi_context_check(exchange, err) == 0) {
            sbi_fail_status(err, SB_PROTOCOL, exchange->status,
                            "HTTP %d where a stream was expected", exchange->status);
        }
        return -1;
    }
    if (exchange->error.code == SB_OK && sbi_step_stream_end(&step->stream, err) != 0) {
        err->status = exchange->status;
        return -1;
    }
    if (step->stream.has_ended || exchange->error.code != SB_OK) {
        bool is_whole = step->stream.has_ended;
        if (is_whole && step->stream.lost.code != SB_OK) {
            *err = step->stream.lost;
            return -1;
        }
        return is_whole ? 0 : explain_transfer(step, exchange, err);
    }
    if (step->stream.lost.code != SB_OK) {
        *err = step->stream.lost;
        return -1;
    }
    /* Without a length or chunks the end of an answer looks like a cut. */
    return sbi_fail_status(err, exchange->is_framed ? SB_PROTOCOL : SB_SANDBOX_LOST,
                           exchange->status, "the answer ended before the code's end");
}

static void note_duration(struct step *step) {
    step->execution.duration = (double)(sbi_now() - step->started) / 1e9;
}

static void on_done(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct step *step = op->data;
    sb_error error = {0};
    explain(step, exchange, &error);
    sbi_box_explain_closed(step->box, &error);
    note_duration(step);
    sbi_op_finish(op, &error);
}

static void cancelled(sb_op *op) {
    note_duration(op->data);
}

static void release(sb_op *op) {
    struct step *step = op->data;
    sbi_step_stream_free(&step->stream);
    sbi_events_free(&step->events);
    sbi_execution_free(&step->execution);
    sbi_box_release(step->box);
    free(step);
}

static const struct sbi_op_kind step_kind = {
    .name = "step", .cancelled = cancelled, .release = release};

static json_t *body_of(const char *code, size_t length, const sb_step_options *options,
                       sb_error *err) {
    json_t *text = json_stringn(code, length), *body = json_object();
    if (body == NULL || text == NULL || json_object_set_new(body, "code", text) != 0) {
        json_decref(body);
        sbi_fail(err, SB_INVALID, "code: is not UTF-8");
        return NULL;
    }
    int status = sbi_json_add_string(body, "language", options->language, err);
    if (status == 0) {
        status = sbi_json_add_string(body, "context_id", options->context, err);
    }
    if (status == 0 && options->envs != NULL) {
        json_t *envs = sbi_pairs_to_json(options->envs, options->env_count, "envs", err);
        status = envs == NULL ? -1 : json_object_set_new(body, "env_vars", envs);
    }
    if (status != 0) {
        json_decref(body);
        return NULL;
    }
    return body;
}

static int describe(struct step *step, struct sbi_exchange *exchange, const char *code,
                    size_t length, const sb_step_options *options, sb_error *err) {
    if (sbi_exchange_to_sandbox(exchange, &step->box->address, SBI_PORT_CODE, "POST", "/execute",
                                err) != 0) {
        return -1;
    }
    json_t *body = body_of(code, length, options, err);
    if (body == NULL) {
        return -1;
    }
    exchange->stream = &step_stream;
    exchange->timeout = step->timeout;
    exchange->connect_timeout = step->timeout < CONNECT_SECONDS ? step->timeout : CONNECT_SECONDS;
    return sbi_exchange_set_json(exchange, body, err);
}

static int check(const char *code, const sb_step_options *options, sb_error *err) {
    if (code == NULL) {
        return sbi_fail(err, SB_INVALID, "code: is NULL");
    }
    if (options->language != NULL && options->context != NULL) {
        return sbi_fail(err, SB_INVALID,
                        "language: a context has one already, give only one of the two");
    }
    return options->timeout >= 0
               ? 0
               : sbi_fail(err, SB_INVALID, "timeout: must be more than 0 seconds");
}

/* An operation with its step, which sb_op_execution() reads from now on. */
static sb_op *new_step(sb_box *box, const sb_step_options *options, sb_error *err) {
    sb_op *op = sbi_op_new_sized(box->loop, &step_kind, sizeof(struct step), err);
    if (op == NULL) {
        return NULL;
    }
    struct step *step = op->data;
    op->events = options->events ? &step->events : NULL;
    step->box = sbi_box_keep(box);
    step->timeout = options->timeout > 0 ? options->timeout : SB_DEFAULT_STEP_TIMEOUT;
    step->started = sbi_now();
    uint64_t max = options->max_output > 0 ? options->max_output : SB_DEFAULT_MAX_OUTPUT;
    sbi_execution_init(&step->execution, max, op->events);
    sbi_step_stream_init(&step->stream, &step->execution);
    return op;
}

sb_op *sb_step(sb_box *box, const char *code, size_t length, const sb_step_options *options,
               sb_error *err) {
    static const sb_step_options defaults;
    options = options != NULL ? options : &defaults;
    sb_op *op = check(code, options, err) == 0 ? new_step(box, options, err) : NULL;
    if (op == NULL) {
        return NULL;
    }
    if (sbi_box_refuses(box, op)) {
        return op;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_done, err);
    if (exchange == NULL || describe(op->data, exchange, code, length, options, err) != 0) {
        sb_op_free(op);
        return NULL;
    }
    sbi_op_send(op, SBI_OP_STREAM);
    return op;
}

const sb_execution *sb_op_execution(const sb_op *op) {
    return op->kind == &step_kind ? sbi_execution_view(&((struct step *)op->data)->execution)
                                  : NULL;
}
