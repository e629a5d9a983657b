/*
 * box.h - a handle on one sandbox.
 *
 * The handle and each operation of it hold a reference; sb_box_free() gives up the handle's, and
 * with it the ownership.
 */
#ifndef STEPBOX_CORE_BOX_H
#define STEPBOX_CORE_BOX_H

#include "address.h"
#include "config.h"
#include "op.h"
#include "ownership.h"

struct sb_box {
    sb_loop *loop;
    struct sbi_config *config;
    struct sbi_address address;
    struct sbi_owned *owned; /* NULL: does not own */
    bool is_closed;
    bool is_ending; /* and its sandbox is killed with that, and all that runs in it */
    int references;
};

/* Takes the address over (also when it fails). */
sb_box *sbi_box_new(sb_loop *loop, struct sbi_config *config, struct sbi_address *address,
                    sb_error *err);
sb_box *sbi_box_keep(sb_box *box);
void sbi_box_release(sb_box *box); /* NULL is allowed */

/* Takes ownership, in this process's books. */
int sbi_box_take_ownership(sb_box *box, sb_error *err);
/* Gives it up: without a kill, or with one by the reaper. */
void sbi_box_drop_ownership(sb_box *box);
void sbi_box_reap(sb_box *box);

/* An operation of a box; on a closed box it has ended with SB_CLOSED already (op->done). Its data
 * is the box, kept until it is freed. */
sb_op *sbi_box_op(sb_box *box, const struct sbi_op_kind *kind, sb_error *err);
/* The same for operations with data of their own: true when it has ended so. */
bool sbi_box_refuses(const sb_box *box, sb_op *op);
/* For kinds whose data is the box. */
void sbi_box_op_release(sb_op *op);

/* A step's or a call's failure on a box that was closed meanwhile is that it was closed. */
void sbi_box_explain_closed(const sb_box *box, sb_error *error);
/* The same for a call of the control plane about the box's sandbox, where "not found" is that this
 * is gone: SB_SANDBOX_LOST; or SB_UNSUPPORTED where the server does not know the call. */
void sbi_box_explain_control(const sb_box *box, sb_error *error);

#endif
