#include "op.h"

#include "box.h"
#include "events.h"
#include "file_entry.h"
#include "file_feed.h"
#include "sandbox_info.h"

#include <stdio.h>
#include <stdlib.h>

static const char *state_name(enum sbi_op_state state) {
    static const char *const names[] = {"new", "request", "stream", "setup", "kill", "done"};
    return names[state];
}

sb_op *sbi_op_new(sb_loop *loop, const struct sbi_op_kind *kind, sb_error *err) {
    if (sbi_loop_check(loop, err) != 0) {
        return NULL;
    }
    sb_op *op = calloc(1, sizeof *op);
    if (op == NULL) {
        sbi_no_memory(err);
        return NULL;
    }
    op->loop = loop;
    op->kind = kind;
    return op;
}

sb_op *sbi_op_new_sized(sb_loop *loop, const struct sbi_op_kind *kind, size_t size, sb_error *err) {
    void *data = calloc(1, size);
    if (data == NULL) {
        sbi_no_memory(err);
        return NULL;
    }
    sb_op *op = sbi_op_new(loop, kind, err);
    if (op == NULL) {
        free(data);
        return NULL;
    }
    op->data = data;
    return op;
}

void sbi_op_enter(sb_op *op, enum sbi_op_state state) {
    if (op->loop->trace) {
        fprintf(stderr, "stepbox: %s %p: %s -> %s%s%s\n", op->kind->name, (void *)op,
                state_name(op->state), state_name(state), op->error.code != SB_OK ? ": " : "",
                op->error.message);
    }
    op->state = state;
    op->done = state == SBI_OP_DONE;
}

void sbi_op_mark_ready(sb_op *op) {
    if (op->is_ready) {
        return;
    }
    sb_loop *loop = op->loop;
    op->is_ready = true;
    op->ready_previous = loop->ready_last;
    op->ready_next = NULL;
    *(loop->ready_last != NULL ? &loop->ready_last->ready_next : &loop->ready_first) = op;
    loop->ready_last = op;
    sbi_loop_kick(loop);
}

void sbi_op_unready(sb_op *op) {
    if (!op->is_ready) {
        return;
    }
    sb_loop *loop = op->loop;
    *(op->ready_previous != NULL ? &op->ready_previous->ready_next : &loop->ready_first) =
        op->ready_next;
    *(op->ready_next != NULL ? &op->ready_next->ready_previous : &loop->ready_last) =
        op->ready_previous;
    op->ready_previous = op->ready_next = NULL;
    op->is_ready = false;
}

void sbi_op_finish(sb_op *op, const sb_error *error) {
    if (op->done) {
        return;
    }
    if (error != NULL && error->code != SB_OK) {
        op->error = *error;
        sbi_error_wrap(&op->error, op->kind->name);
    }
    sbi_op_enter(op, SBI_OP_DONE);
    /* Its handle serves the next operation; an exchange may be freed within its own end. */
    sbi_exchange_free(op->exchange);
    op->exchange = NULL;
    sbi_op_mark_ready(op);
}

struct sbi_exchange *sbi_op_exchange(sb_op *op, struct sbi_config *config,
                                     void (*done)(void *op, struct sbi_exchange *exchange),
                                     sb_error *err) {
    sbi_exchange_free(op->exchange);
    op->exchange = sbi_exchange_new(op->loop, config, err);
    if (op->exchange != NULL) {
        op->exchange->done = done;
        op->exchange->user = op;
    }
    return op->exchange;
}

void sbi_op_send(sb_op *op, enum sbi_op_state state) {
    sb_error error;
    sbi_op_enter(op, state);
    if (sbi_exchange_start(op->exchange, &error) != 0) {
        sbi_op_finish(op, &error);
    }
}

bool sb_op_done(const sb_op *op) {
    return op->done;
}

sb_code sb_op_error(const sb_op *op, sb_error *err) {
    if (err != NULL) {
        *err = op->error;
    }
    return op->error.code;
}

int sb_op_wait(sb_op *op, sb_error *err) {
    if (sbi_loop_check(op->loop, err) != 0) {
        return -1;
    }
    if (op->feed != NULL && !op->feed->has_ended && !op->done) {
        return sbi_fail(err, SB_INVALID, "a write that is not fed to its end would wait for ever");
    }
    if (op->events != NULL) {
        /* Nobody can read events while this blocks: they must not stop the transfer. */
        sbi_events_unbound(op->events);
        if (op->exchange != NULL) {
            sbi_exchange_resume(op->exchange);
        }
    }
    if (sbi_loop_run(op->loop, &op->done, err) != 0) {
        return -1;
    }
    return sb_op_error(op, err) == SB_OK ? 0 : -1;
}

void sb_op_cancel(sb_op *op) {
    if (op->done || sbi_loop_is_foreign(op->loop)) {
        return;
    }
    sb_error error;
    sbi_fail(&error, SB_CANCELLED, "cancelled");
    if (op->exchange != NULL && op->kind->cancelling != NULL) {
        op->kind->cancelling(op);
    }
    if (op->exchange != NULL) {
        sbi_exchange_abort(op->exchange);
    }
    if (op->kind->cancelled != NULL) {
        op->kind->cancelled(op);
    }
    sbi_op_finish(op, &error);
}

void sb_op_free(sb_op *op) {
    if (op == NULL) {
        return;
    }
    sb_op_cancel(op);
    sbi_op_unready(op);
    sbi_exchange_free(op->exchange);
    if (op->kind->release != NULL) {
        op->kind->release(op);
    }
    sb_box_free(op->box);
    sbi_infos_free(op->infos);
    sbi_entries_free(op->entries);
    free(op->json);
    free(op);
}

void sb_op_set_user(sb_op *op, void *user) {
    op->user = user;
}

void *sb_op_user(const sb_op *op) {
    return op->user;
}

sb_box *sb_op_take_box(sb_op *op) {
    sb_box *box = op->done && op->error.code == SB_OK ? op->box : NULL;
    if (box != NULL) {
        op->box = NULL;
    }
    return box;
}

bool sb_op_flag(const sb_op *op) {
    return op->flag;
}

int64_t sb_op_pid(const sb_op *op) {
    return op->pid;
}

const sb_command_result *sb_op_command(const sb_op *op) {
    return op->kind->command != NULL ? op->kind->command(op) : NULL;
}

const sb_event *sb_op_next_event(sb_op *op) {
    if (op->events == NULL) {
        return NULL;
    }
    const sb_event *event = sbi_events_next(op->events);
    if (op->exchange != NULL && sbi_events_are_low(op->events)) {
        sbi_exchange_resume(op->exchange);
    }
    return event;
}
