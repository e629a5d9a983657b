/*
 * process_follow.h - an operation that follows a process in a sandbox by the stream of its events,
 * from its start (command.c) or from where one comes in (process_connect.c), to its end.
 */
#ifndef STEPBOX_CORE_PROCESS_FOLLOW_H
#define STEPBOX_CORE_PROCESS_FOLLOW_H

#include "box.h"
#include "command_output.h"
#include "op.h"

/* op->data of such an operation. */
struct sbi_follow {
    sb_box *box;
    struct sbi_command_output output;
    struct sbi_events events;
    char *command;   /* NULL: it is not known */
    char *user;      /* NULL: the sandbox's default user */
    int64_t started; /* sbi_now() time */
    double timeout;  /* seconds; INFINITY: none */
    double grace;    /* seconds beyond, in which the server kills and says so; 0: it does not */
    bool is_bound;   /* the process ends with the operation */
};

struct sbi_follow_options {
    const char *command, *user; /* copied; NULL is allowed */
    double timeout, grace;
    uint64_t max_output; /* 0: the default */
    bool events, is_bound;
    sb_code missing; /* what the service's not_found means */
};

/* An operation of a kind with the four functions below. On a closed box it has ended already
 * (op->done). */
sb_op *sbi_follow_new(sb_box *box, const struct sbi_op_kind *kind,
                      const struct sbi_follow_options *options, sb_error *err);
void sbi_follow_cancelling(sb_op *op);
void sbi_follow_cancelled(sb_op *op);
void sbi_follow_release(sb_op *op);
const sb_command_result *sbi_follow_command(const sb_op *op);

/* Gives op its exchange with the call described, to which the caller may add headers. Takes the
 * reference to message. NULL with err. */
struct sbi_exchange *sbi_follow_exchange(sb_op *op, const char *path, json_t *message,
                                         sb_error *err);

#endif
