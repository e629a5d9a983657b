/*
 * descendants.h - the processes that code has started, and interrupting those it waits for.
 *
 * Everything here may be called in a signal handler: no memory is allocated, no lock taken.
 */
#ifndef STEPBOX_RUNNER_DESCENDANTS_H
#define STEPBOX_RUNNER_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DESCENDANTS_MAX 512

struct descendants {
    size_t count;
    pid_t pids[DESCENDANTS_MAX]; /* what goes beyond is left out */
};

/* Those that are still attached to the process by their parents, without those in `skipped` (NULL:
 * none) and without what such have started. */
void descendants_of(pid_t pid, const struct descendants *skipped, struct descendants *found);
void descendants_add(struct descendants *set, pid_t pid);
bool descendants_have(const struct descendants *set, pid_t pid);

/* Sends the signal to those of these descendants that a terminal's Ctrl-C would reach: processes of
 * the same session. What is in `told` is not told again, unless it has lost the signal, and who is
 * told is added to it. */
void descendants_tell(const struct descendants *descendants, pid_t of, int number,
                      struct descendants *told);
/* The same for all that there are now, without those in `skipped`. */
void descendants_signal(pid_t of, int number, const struct descendants *skipped,
                        struct descendants *told);

/* Whether the process has a handler for the signal. */
bool process_catches(pid_t pid, int number);

#endif
