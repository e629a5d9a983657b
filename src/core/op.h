/*
 * op.h - the life of an operation.
 *
 * Each kind of operation lives in its own file: it makes an sb_op with its kind, starts exchanges,
 * and ends with sbi_op_finish(). States change in sbi_op_enter() alone.
 */
#ifndef STEPBOX_CORE_OP_H
#define STEPBOX_CORE_OP_H

#include "exchange.h"
#include "loop.h"

struct sbi_entries;
struct sbi_events;
struct sbi_feed;
struct sbi_infos;

enum sbi_op_state {
    SBI_OP_NEW,
    SBI_OP_REQUEST, /* an exchange is under way */
    SBI_OP_STREAM,  /* a step's answer */
    SBI_OP_SETUP,   /* a setup command runs */
    SBI_OP_KILL,    /* something failed after a sandbox was made: it is being killed */
    SBI_OP_DONE
};

struct sbi_op_kind {
    const char *name; /* as messages begin */
    /* Called by a cancel before the exchange that is under way is aborted; may take it away (set
     * op->exchange to NULL). NULL: nothing to do. */
    void (*cancelling)(sb_op *op);
    /* Cleans up when the operation ends before its time: called by a cancel after its exchange was
     * aborted. NULL: nothing to do. */
    void (*cancelled)(sb_op *op);
    /* Frees op->data; never touches the network in a foreign process. NULL: nothing to do. */
    void (*release)(sb_op *op);
    /* What sb_op_command() gives. NULL: it is no command. */
    const sb_command_result *(*command)(const sb_op *op);
};

struct sb_op {
    sb_loop *loop;
    const struct sbi_op_kind *kind;
    enum sbi_op_state state;
    bool done; /* state is SBI_OP_DONE */
    sb_error error;
    void *user;
    sb_op *ready_previous, *ready_next;
    bool is_ready;                 /* in the loop's list */
    struct sbi_exchange *exchange; /* owned; NULL when none is under way */
    void *data;                    /* the kind's */
    /* What the getters read, as far as the kind has it: */
    sb_box *box;                 /* for sb_op_take_box(); owned until taken */
    struct sbi_infos *infos;     /* owned */
    struct sbi_entries *entries; /* owned */
    struct sbi_events *events;   /* belongs to data */
    struct sbi_feed *feed;       /* belongs to data */
    bool flag;
    char *json;  /* for sb_op_json(); owned */
    int64_t pid; /* of the process it follows; 0: none, or not known yet */
};

/* A new operation in its first state, or NULL. */
sb_op *sbi_op_new(sb_loop *loop, const struct sbi_op_kind *kind, sb_error *err);

/* The same with zeroed data of so many bytes, for the kind's release() to free(). */
sb_op *sbi_op_new_sized(sb_loop *loop, const struct sbi_op_kind *kind, size_t size, sb_error *err);

void sbi_op_enter(sb_op *op, enum sbi_op_state state);

/* Ends it; error NULL or with SB_OK: success. The kind's name is put before the message. */
void sbi_op_finish(sb_op *op, const sb_error *error);

/* Marks that there is news, and takes the mark away. */
void sbi_op_mark_ready(sb_op *op);
void sbi_op_unready(sb_op *op);

/* A new exchange of op whose end is told to `done`; frees the one before. NULL with err. */
struct sbi_exchange *sbi_op_exchange(sb_op *op, struct sbi_config *config,
                                     void (*done)(void *op, struct sbi_exchange *exchange),
                                     sb_error *err);

/* Starts op->exchange and enters the state, or finishes op with what failed. */
void sbi_op_send(sb_op *op, enum sbi_op_state state);

#endif
