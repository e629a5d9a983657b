/*
 * spawn.h - starts a program in a session of its own, and ends one with everything it started.
 */
#ifndef STEPBOX_SPAWN_H
#define STEPBOX_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "privileges.h"

typedef struct spawn_options {
    char *const *argv; /* argv[0] is looked up in the PATH of envp unless it has a slash */
    char *const *envp;
    const char *cwd;
    const char *other_cwd; /* taken when cwd cannot be entered; NULL: that is a failure */
    int in;                /* becomes descriptor 0; -1: that is /dev/null */
    int out, err;          /* become descriptors 1 and 2 */
    bool terminal;         /* these are a terminal, which becomes the session's own */
    int channel;           /* becomes SPAWN_CHANNEL_FD, or -1 */
    agent_user user;       /* who runs it */
} spawn_options;

#define SPAWN_CHANNEL_FD 3

typedef enum spawn_stage { SPAWN_FORK, SPAWN_CWD, SPAWN_EXEC } spawn_stage;

/* Raises the limit of open files for this process; what it spawns gets the old one. */
void spawn_raise_file_limit(void);
/* The old one; 0 when it was not raised. */
int spawn_inherited_file_limit(void);

/* Returns the pid, or -1 with errno, and what failed in *stage. All other descriptors must be
 * CLOEXEC. */
pid_t spawn_program(const spawn_options *options, spawn_stage *stage);

/* Makes a pipe of SPAWN_PIPE_SIZE bytes where that is allowed; the end to read is non-blocking. 0
 * or -1 with errno. */
#define SPAWN_PIPE_SIZE (256 * 1024)
int spawn_pipe(int ends[2]);
/* The same for what a program reads: of the usual size, and the end to write is non-blocking. */
int spawn_input_pipe(int ends[2]);

/* Kills the leader, its process group, its session, and all their descendants that can be found. */
void spawn_kill_all(pid_t leader);
/* Kills everything that descends from this process. */
void spawn_kill_children(void);

#endif
