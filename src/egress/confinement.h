/*
 * confinement.h - takes from a process what it does not need to serve a sandbox's connections, so
 * that bytes which get the better of it gain little: it keeps its sockets, and may open others.
 */
#ifndef STEPBOX_CONFINEMENT_H
#define STEPBOX_CONFINEMENT_H

#include <stddef.h>

/* For a process with one thread: for ever. It gets a user namespace of its own, in which it owns
 * nothing of the sandbox's, and a root directory of its own; no capabilities, now or later; a
 * filter of system calls. It ends with the process `parent`. Returns 0, or -1 with a message. */
int confine(int parent, char *message, size_t room);

#endif
