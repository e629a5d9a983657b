/* box_metrics.c - what a sandbox has taken of its host, as the control plane tells it. */
#include "box.h"
#include "json_answer.h"
#include "sandbox.h"
#include "stepbox_engine.h"

#include <stdio.h>

static void on_answer(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    sbi_keep_json_list(op, exchange, &error);
    sbi_box_explain_control(op->data, &error);
    sbi_op_finish(op, &error);
}

static const struct sbi_op_kind metrics_kind = {.name = "metrics", .release = sbi_box_op_release};

static int describe(struct sbi_exchange *exchange, const sb_box *box,
                    const sb_metrics_options *options, sb_error *err) {
    char path[256], start[48] = "", end[48] = "";
    if (options->start > 0) {
        snprintf(start, sizeof start, "?start=%lld", (long long)options->start);
    }
    if (options->end > 0) {
        snprintf(end, sizeof end, "%cend=%lld", start[0] != '\0' ? '&' : '?',
                 (long long)options->end);
    }
    snprintf(path, sizeof path, "/sandboxes/%s/metrics%s%s", box->address.id, start, end);
    return sbi_exchange_to_control(exchange, "GET", path, err);
}

sb_op *sb_box_metrics(sb_box *box, const sb_metrics_options *options, sb_error *err) {
    static const sb_metrics_options defaults;
    options = options != NULL ? options : &defaults;
    if (options->start < 0 || options->end < 0) {
        sbi_fail(err, SB_INVALID, "%s: must not be before 1970",
                 options->start < 0 ? "start" : "end");
        return NULL;
    }
    sb_op *op = sbi_box_op(box, &metrics_kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_answer, err);
    return sbi_send_or_drop(op, exchange == NULL ? -1 : describe(exchange, box, options, err));
}
