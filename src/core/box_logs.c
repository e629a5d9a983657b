/* box_logs.c - what a server tells of a sandbox's life. */
#include "box.h"
#include "json_answer.h"
#include "sandbox.h"
#include "stepbox_engine.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

#define MAX_LIMIT 1000

static void on_answer(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    sbi_keep_json_answer(op, exchange, &error);
    sbi_box_explain_control(op->data, &error);
    sbi_op_finish(op, &error);
}

static const struct sbi_op_kind logs_kind = {.name = "logs", .release = sbi_box_op_release};

static sb_code append(struct sbi_buffer *path, const char *name, const char *value) {
    sb_code code = sbi_buffer_append_string(path, name);
    return code == SB_OK ? sbi_percent_encode(path, value, strlen(value)) : code;
}

static sb_code build_path(struct sbi_buffer *path, const char *id, const sb_logs_options *options) {
    char number[32];
    sb_code code = sbi_buffer_append_string(path, "/v2/sandboxes/");
    if (code == SB_OK) {
        code = sbi_buffer_append_string(path, id);
    }
    if (code == SB_OK) {
        code = append(path, "/logs?direction=", options->backward ? "backward" : "forward");
    }
    if (code == SB_OK && options->cursor > 0) {
        snprintf(number, sizeof number, "%lld", (long long)options->cursor);
        code = append(path, "&cursor=", number);
    }
    if (code == SB_OK && options->limit > 0) {
        snprintf(number, sizeof number, "%d", options->limit);
        code = append(path, "&limit=", number);
    }
    if (code == SB_OK && options->level != NULL) {
        code = append(path, "&level=", options->level);
    }
    if (code == SB_OK && options->search != NULL) {
        code = append(path, "&search=", options->search);
    }
    return code;
}

static int describe(struct sbi_exchange *exchange, const sb_box *box,
                    const sb_logs_options *options, sb_error *err) {
    struct sbi_buffer path;
    sbi_buffer_init(&path, 4096);
    sb_code code = build_path(&path, box->address.id, options);
    int status = code == SB_OK          ? sbi_exchange_to_control(exchange, "GET", path.data, err)
                 : code == SB_TOO_LARGE ? sbi_fail(err, SB_INVALID, "search: too long")
                                        : sbi_no_memory(err);
    sbi_buffer_free(&path);
    return status;
}

sb_op *sb_box_logs(sb_box *box, const sb_logs_options *options, sb_error *err) {
    static const sb_logs_options defaults;
    options = options != NULL ? options : &defaults;
    if (options->limit < 0 || options->limit > MAX_LIMIT) {
        sbi_fail(err, SB_INVALID, "limit: must be from 1 to %d", MAX_LIMIT);
        return NULL;
    }
    if (options->cursor < 0) {
        sbi_fail(err, SB_INVALID, "cursor: must not be before 1970");
        return NULL;
    }
    sb_op *op = sbi_box_op(box, &logs_kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_answer, err);
    return sbi_send_or_drop(op, exchange == NULL ? -1 : describe(exchange, box, options, err));
}
