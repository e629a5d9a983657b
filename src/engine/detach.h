/*
 * detach.h - going to the background.
 */
#ifndef STEPBOX_DETACH_H
#define STEPBOX_DETACH_H

/* Marks every inherited descriptor from 3 up as close-on-exec, so that none of them reaches a
 * sandbox. */
void detach_mark_inherited(void);

/* Forks twice. The process that called passes on to ready_fd (or -1) what the daemon reports, and
 * exits: it never returns from here. In the daemon, which has its own session, / as directory,
 * /dev/null as stdio and nothing else open, returns the descriptor to report to. Returns -1 when it
 * could not fork. */
int detach(int ready_fd);

#endif
