/* box_pause.c - has a sandbox stand still, and go on. */
#include "box.h"
#include "sandbox.h"

#include <stdio.h>

#define PAUSED_ALREADY 409
#define WAS_PAUSED 201

static void finish(sb_op *op, sb_error *error) {
    sbi_box_explain_control(op->data, error);
    sbi_op_finish(op, error);
}

static void on_paused(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    bool was_paused = exchange->error.code == SB_OK && exchange->status == PAUSED_ALREADY;
    if (!was_paused) {
        op->flag = sbi_exchange_check(exchange, &error) == 0;
    }
    finish(op, &error);
}

static void on_resumed(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    bool goes_on = sbi_exchange_check(exchange, &error) == 0;
    op->flag = goes_on && exchange->status == WAS_PAUSED;
    finish(op, &error);
}

/* POST /sandboxes/ID and `below`; takes the reference to body. */
static sb_op *send_call(sb_op *op, const char *version, const char *below,
                        void (*done)(void *, struct sbi_exchange *), json_t *body, sb_error *err) {
    const sb_box *box = op->data;
    char path[200];
    snprintf(path, sizeof path, "%s/sandboxes/%s%s", version, box->address.id, below);
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, done, err);
    if (exchange == NULL || sbi_exchange_to_control(exchange, "POST", path, err) != 0) {
        json_decref(body);
        return sbi_send_or_drop(op, -1);
    }
    return sbi_send_or_drop(op, sbi_exchange_set_json(exchange, body, err));
}

static const struct sbi_op_kind pause_kind = {.name = "pause", .release = sbi_box_op_release};

sb_op *sb_box_pause(sb_box *box, sb_error *err) {
    sb_op *op = sbi_box_op(box, &pause_kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    return send_call(op, "", "/pause", on_paused, json_object(), err);
}

static const struct sbi_op_kind resume_kind = {.name = "resume", .release = sbi_box_op_release};

sb_op *sb_box_resume(sb_box *box, double timeout, sb_error *err) {
    json_int_t seconds;
    if (sbi_wire_seconds(timeout, "timeout", &seconds, err) != 0) {
        return NULL;
    }
    sb_op *op = sbi_box_op(box, &resume_kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    json_t *body = seconds > 0 ? json_pack("{s:I}", "timeout", seconds) : json_object();
    return send_call(op, "/v2", "/connect", on_resumed, body, err);
}
