/*
 * process.h - processes by descriptor (pidfd), which unlike a pid cannot come to mean another
 * process.
 */
#ifndef STEPBOX_PROCESS_H
#define STEPBOX_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* A descriptor (CLOEXEC) that is readable when the process has ended; -1 with errno. */
int process_open(pid_t pid);

/* SIGKILL. 0, or -1 with errno (ESRCH: it has ended). */
int process_kill(int pidfd);

/* fork(), for a child that is no engine: none of the engine's handlers ever runs in it, and it has
 * no mask. */
pid_t process_fork(void);
/* In a child: becomes this user and group, with no others. 0, or -1 with errno. Resets the signal
 * at the parent's death. */
int process_become(uid_t uid, gid_t gid);

/* The parent of a process, or -1 when there is no such process. */
pid_t process_parent(pid_t pid);

/* Whether a process, by its pidfd, has not been reaped. */
bool process_is_there(int pidfd);

#endif
