#include "answer.h"
#include "box.h"
#include "op.h"
#include "sandbox.h"
#include "sandbox_info.h"
#include "wire.h"

#include <stdio.h>

static sb_box *box_of(const sb_op *op) {
    return op->data;
}

static void finish_call(sb_op *op, sb_error *error) {
    sbi_box_explain_control(box_of(op), error);
    sbi_op_finish(op, error);
}

/* Starts a call of the control plane, "/sandboxes/ID" and `below`. */
static sb_op *call(sb_op *op, const char *method, const char *below,
                   void (*done)(void *, struct sbi_exchange *), json_t *body, sb_error *err) {
    char path[200];
    sb_box *box = box_of(op);
    snprintf(path, sizeof path, "/sandboxes/%s%s", box->address.id, below);
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, done, err);
    int status = exchange == NULL ? -1 : sbi_exchange_to_control(exchange, method, path, err);
    if (status == 0 && body != NULL) {
        status = sbi_exchange_set_json(exchange, json_incref(body), err);
    }
    json_decref(body);
    return sbi_send_or_drop(op, status);
}

/* For calls whose answer tells nothing but success. */
static void on_plain(void *user, struct sbi_exchange *exchange) {
    sb_error error = {0};
    sbi_exchange_check(exchange, &error);
    finish_call(user, &error);
}

/* --- kill
 * ---------------------------------------------------------------------------------------------- */

static void on_box_killed(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    if (sbi_exchange_check(exchange, &error) == 0 || error.code == SB_NOT_FOUND) {
        sbi_box_drop_ownership(box_of(op));
    } else {
        /* An owned sandbox does not outlive its owner because one request failed. */
        sbi_box_reap(box_of(op));
    }
    sbi_op_finish(op, &error);
}

static void kill_cancelled(sb_op *op) {
    sbi_box_reap(box_of(op));
}

static const struct sbi_op_kind box_kill_kind = {
    .name = "kill", .cancelled = kill_cancelled, .release = sbi_box_op_release};

sb_op *sb_box_kill(sb_box *box, sb_error *err) {
    sb_op *op = sbi_box_op(box, &box_kill_kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    op = call(op, "DELETE", "", on_box_killed, NULL, err);
    if (op != NULL) {
        box->is_closed = box->is_ending = true;
    }
    return op;
}

/* --- ownership
 * ----------------------------------------------------------------------------------------- */

static void on_detached(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    if (sbi_exchange_check(exchange, &error) == 0) {
        sbi_box_drop_ownership(box_of(op));
    }
    finish_call(op, &error);
}

static const struct sbi_op_kind detach_kind = {.name = "detach", .release = sbi_box_op_release};

sb_op *sb_box_detach(sb_box *box, sb_error *err) {
    sb_op *op = sbi_box_op(box, &detach_kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    if (box->config->local && box->owned != NULL) {
        return call(op, "DELETE", "/lease", on_detached, NULL, err);
    }
    sbi_box_drop_ownership(box);
    sbi_op_finish(op, NULL);
    return op;
}

static void on_owned(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    if (sbi_exchange_check(exchange, &error) == 0 && !box_of(op)->is_closed) {
        sbi_box_take_ownership(box_of(op), &error);
    }
    finish_call(op, &error);
}

static const struct sbi_op_kind own_kind = {.name = "own", .release = sbi_box_op_release};

sb_op *sb_box_own(sb_box *box, sb_error *err) {
    sb_op *op = sbi_box_op(box, &own_kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    if (box->config->local) {
        return call(op, "PUT", "/lease", on_owned, NULL, err);
    }
    sb_error error = {0};
    sbi_box_take_ownership(box, &error);
    sbi_op_finish(op, &error);
    return op;
}

/* --- info and life
 * ------------------------------------------------------------------------------------- */

static void on_info(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    json_t *answer = sbi_exchange_json(exchange, &error);
    if (answer != NULL && !json_is_object(answer)) {
        json_decref(answer);
        answer = NULL;
        sbi_fail(&error, SB_PROTOCOL, "the server's answer is no object");
    }
    if (answer != NULL) {
        op->infos = sbi_infos_new(answer, &error);
    }
    finish_call(op, &error);
}

static const struct sbi_op_kind info_kind = {.name = "info", .release = sbi_box_op_release};

sb_op *sb_box_info(sb_box *box, sb_error *err) {
    sb_op *op = sbi_box_op(box, &info_kind, err);
    return op == NULL || op->done ? op : call(op, "GET", "", on_info, NULL, err);
}

static const struct sbi_op_kind set_timeout_kind = {.name = "set timeout",
                                                    .release = sbi_box_op_release};

sb_op *sb_box_set_timeout(sb_box *box, double seconds, sb_error *err) {
    json_int_t whole;
    if (sbi_wire_seconds(seconds, "timeout", &whole, err) != 0) {
        return NULL;
    }
    if (whole == 0) {
        sbi_fail(err, SB_INVALID, "timeout: must be more than 0 seconds");
        return NULL;
    }
    sb_op *op = sbi_box_op(box, &set_timeout_kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    json_t *body = json_pack("{s:I}", "timeout", whole);
    return call(op, "POST", "/timeout", on_plain, body, err);
}

/* --- what the sandbox itself answers
 * ------------------------------------------------------------------- */

static void on_health(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    bool is_healthy = sbi_exchange_check(exchange, &error) == 0;
    bool is_paused = sbi_answer_is_paused(exchange->status, sbi_buffer_string(&exchange->answer),
                                          exchange->answer.length);
    if (is_paused || error.code == SB_NOT_FOUND || error.code == SB_SANDBOX_LOST) {
        error = (sb_error){0};
    }
    op->flag = is_healthy;
    finish_call(op, &error);
}

static const struct sbi_op_kind is_running_kind = {.name = "is running",
                                                   .release = sbi_box_op_release};

sb_op *sb_box_is_running(sb_box *box, sb_error *err) {
    sb_op *op = sbi_box_op(box, &is_running_kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_health, err);
    return sbi_send_or_drop(op, exchange == NULL ? -1
                                                 : sbi_exchange_to_sandbox(exchange, &box->address,
                                                                           SBI_PORT_ENVD, "GET",
                                                                           "/health", err));
}
