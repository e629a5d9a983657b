/*
 * stepbox_process.h - commands and terminals in a sandbox. Included by stepbox.h.
 *
 *     sb_op *op = sb_command(box, "ls -l", NULL, &err);
 *     if (sb_op_wait(op, &err) == 0) {
 *         const sb_command_result *result = sb_op_command(op);
 *         printf("%d: %s", result->exit_code, result->out);
 *     }
 *     sb_op_free(op);
 */
#ifndef STEPBOX_PROCESS_H
#define STEPBOX_PROCESS_H

#include "stepbox.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SB_DEFAULT_COMMAND_TIMEOUT 300.0

typedef struct sb_command_options {
    /* With args (may be empty but not NULL) `command` is a program that is run as it is, without a
     * shell. Without: it is a line for `bash -l -c`. */
    const char *const *args;
    size_t arg_count;
    const char *cwd;  /* NULL: the home directory */
    const char *user; /* NULL: the sandbox's default user */
    const char *tag;  /* a name to find the process by; NULL: none */
    const sb_pair *envs;
    size_t env_count;
    double timeout;      /* then the whole process tree is killed; 0: 300, or none when detached;
                            INFINITY: none */
    uint64_t max_output; /* bytes kept of stdout, and of stderr; 0: 32 MiB */
    bool open_stdin;     /* stdin stays open for sb_process_send(); else it is empty */
    bool detached;       /* the process goes on when the operation is cancelled or freed; else it is
                            killed then */
    bool events;         /* keep output as events for sb_op_next_event() */
    unsigned cols, rows; /* both above 0: on a terminal (its output is SB_PTY) */
} sb_command_options;

/* Starts a program and follows it to its end. A non-zero exit is a success; sb_op_command() is
 * never NULL, and after a failure holds what had arrived. SB_TIMEOUT: the deadline passed, and the
 * program was killed. NULL options: defaults. */
SB_API sb_op *sb_command(sb_box *box, const char *command, const sb_command_options *options,
                         sb_error *err);

/* The process's id in the sandbox, or 0 until it is known (the operation has news then). */
SB_API int64_t sb_op_pid(const sb_op *op);

/* What is known of a command so far; complete when the operation is done. Also the setup command
 * that ended sb_create() with SB_SETUP_FAILED. NULL for other operations. The pointers live until
 * the operation runs on. */
typedef struct sb_command_result {
    const char *command;   /* NULL after sb_process_connect() */
    int exit_code;         /* -1: it has not ended, or not by exiting */
    const char *how;       /* how it ended when not by exiting ("signal: killed"), else NULL */
    const char *out, *err; /* NUL-terminated behind their lengths; a terminal's output is in out */
    size_t out_length, err_length;
    bool out_truncated, err_truncated;
    uint64_t dropped; /* as of sb_execution */
} sb_command_result;
SB_API const sb_command_result *sb_op_command(const sb_op *op);

/* Which process: by tag when that is not NULL, else by pid. */
typedef struct sb_process {
    int64_t pid;
    const char *tag;
} sb_process;

typedef struct sb_process_connect_options {
    double timeout;      /* of following it; the process goes on. 0 or INFINITY: none */
    uint64_t max_output; /* as of sb_command_options */
    bool events;
} sb_process_connect_options;

/* Follows a process that runs already: its output from now on, and its end. Ending this operation
 * leaves it alone. SB_PROCESS_GONE: there is no such process (any more). */
SB_API sb_op *sb_process_connect(sb_box *box, const sb_process *process,
                                 const sb_process_connect_options *options, sb_error *err);

typedef struct sb_process_info {
    int64_t pid;
    const char *tag; /* or NULL */
    const char *command;
    const char *const *args;
    size_t arg_count;
    const char *cwd; /* or NULL */
    const sb_pair *envs;
    size_t env_count;
} sb_process_info;

/* The processes that commands started and that still run. */
SB_API sb_op *sb_process_list(sb_box *box, sb_error *err);
SB_API size_t sb_op_process_count(const sb_op *op);
SB_API const sb_process_info *sb_op_process(const sb_op *op, size_t index);

/* Writes to the process's stdin, or to its terminal. Ends when all was taken, or after `timeout`
 * seconds (0: as long as any request may take; INFINITY: never), when a part may have been taken.
 * At most 4 MiB a call (SB_TOO_LARGE). */
SB_API sb_op *sb_process_send(sb_box *box, const sb_process *process, const char *bytes,
                              size_t length, bool to_terminal, double timeout, sb_error *err);
SB_API sb_op *sb_process_close_stdin(sb_box *box, const sb_process *process, sb_error *err);

/* A signal by number. SIGKILL takes the whole process tree. E2B's own servers know SIGTERM and
 * SIGKILL alone: others are SB_UNSUPPORTED there. */
SB_API sb_op *sb_process_signal(sb_box *box, const sb_process *process, int signal, sb_error *err);
SB_API sb_op *sb_process_resize(sb_box *box, const sb_process *process, unsigned cols,
                                unsigned rows, sb_error *err);

#ifdef __cplusplus
}
#endif
#endif
