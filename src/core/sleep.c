/* sleep.c - an operation that only waits. */
#include "op.h"
#include "timestamp.h"

#include <stdlib.h>

struct sleep {
    struct sbi_timer timer;
};

static void on_due(void *user) {
    sbi_op_finish(user, NULL);
}

static void cancelled(sb_op *op) {
    struct sleep *sleep = op->data;
    sbi_loop_unset_timer(op->loop, &sleep->timer);
}

static void release(sb_op *op) {
    free(op->data);
}

static const struct sbi_op_kind sleep_kind = {
    .name = "sleep", .cancelled = cancelled, .release = release};

sb_op *sb_sleep(sb_loop *loop, double seconds, sb_error *err) {
    if (!(seconds >= 0)) {
        sbi_fail(err, SB_INVALID, "seconds: must not be less than 0");
        return NULL;
    }
    sb_op *op = sbi_op_new_sized(loop, &sleep_kind, sizeof(struct sleep), err);
    if (op == NULL) {
        return NULL;
    }
    struct sleep *sleep = op->data;
    sleep->timer.fire = on_due;
    sleep->timer.user = op;
    sbi_op_enter(op, SBI_OP_REQUEST);
    sbi_loop_set_timer(loop, &sleep->timer, sbi_deadline(seconds));
    return op;
}
