/*
 * orphans.h - processes that lost their parent and were given to us (PR_SET_CHILD_SUBREAPER).
 *
 * bubblewrap ties its child to itself only after it has started it; if it is killed before that,
 * the child stays behind, waiting for ever. Such children become ours, and are killed here.
 */
#ifndef STEPBOX_ORPHANS_H
#define STEPBOX_ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>

/* Sends SIGKILL to each child of this process for which keep (NULL: keep none) does not return
 * true. Returns how many there were. */
int orphans_kill(bool (*keep)(pid_t pid, void *user), void *user);

#endif
