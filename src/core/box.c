#include "box.h"

#include "reaper.h"

#include <stdlib.h>
#include <string.h>

sb_box *sbi_box_new(sb_loop *loop, struct sbi_config *config, struct sbi_address *address,
                    sb_error *err) {
    sb_box *box = calloc(1, sizeof *box);
    if (box == NULL) {
        sbi_address_free(address);
        sbi_no_memory(err);
        return NULL;
    }
    box->loop = loop;
    box->config = sbi_config_keep(config);
    box->address = *address;
    box->references = 1;
    *address = (struct sbi_address){0};
    return box;
}

sb_box *sbi_box_keep(sb_box *box) {
    box->references++;
    return box;
}

void sbi_box_release(sb_box *box) {
    if (box == NULL || --box->references > 0) {
        return;
    }
    sbi_owned_free(box->owned);
    sbi_address_free(&box->address);
    sbi_config_release(box->config);
    free(box);
}

int sbi_box_take_ownership(sb_box *box, sb_error *err) {
    if (box->owned == NULL) {
        box->owned = sbi_owned_new(box->config, box->address.id, err);
        /* Now, so that a finaliser need not. */
        sbi_reaper_start(box->loop);
    }
    return box->owned != NULL ? 0 : -1;
}

void sbi_box_drop_ownership(sb_box *box) {
    sbi_owned_free(box->owned);
    box->owned = NULL;
}

void sbi_box_reap(sb_box *box) {
    struct sbi_owned *owned = box->owned;
    box->owned = NULL;
    if (owned == NULL) {
        return;
    }
    if (sbi_loop_is_foreign(box->loop)) {
        /* The parent's sandbox; its reaper's thread and lock are not ours either. */
        sbi_owned_free(owned);
        return;
    }
    sbi_reaper_kill(box->loop, owned);
}

void sb_box_free(sb_box *box) {
    if (box == NULL) {
        return;
    }
    if (!box->is_closed) {
        box->is_closed = true;
        box->is_ending = box->owned != NULL;
        sbi_box_reap(box);
    }
    /* Else a kill is under way or done, and its operation sees to the rest. */
    sbi_box_release(box);
}

const char *sb_box_id(const sb_box *box) {
    return box->address.id;
}

bool sb_box_owns(const sb_box *box) {
    return box->owned != NULL;
}

bool sb_box_closed(const sb_box *box) {
    return box->is_closed;
}

bool sbi_box_refuses(const sb_box *box, sb_op *op) {
    if (box->is_closed) {
        sb_error closed;
        sbi_fail(&closed, SB_CLOSED, "the box is closed");
        sbi_op_finish(op, &closed);
    }
    return box->is_closed;
}

sb_op *sbi_box_op(sb_box *box, const struct sbi_op_kind *kind, sb_error *err) {
    sb_op *op = sbi_op_new(box->loop, kind, err);
    if (op == NULL) {
        return NULL;
    }
    op->data = sbi_box_keep(box);
    sbi_box_refuses(box, op);
    return op;
}

void sbi_box_op_release(sb_op *op) {
    sbi_box_release(op->data);
}

void sbi_box_explain_closed(const sb_box *box, sb_error *error) {
    if (box->is_closed && (error->code == SB_SANDBOX_LOST || error->code == SB_NOT_FOUND)) {
        sbi_fail_status(error, SB_CLOSED, error->status, "the box was closed meanwhile");
    }
}

void sbi_box_explain_control(const sb_box *box, sb_error *error) {
    if (error->code == SB_NOT_FOUND) {
        /* Servers say it of a call that they do not have too: "no matching operation was found". */
        bool has_no_call = strstr(error->message, "operation") != NULL;
        error->code = has_no_call ? SB_UNSUPPORTED : SB_SANDBOX_LOST;
    }
    sbi_box_explain_closed(box, error);
}
