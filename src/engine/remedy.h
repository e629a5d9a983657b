/*
 * remedy.h - why bubblewrap could not make a sandbox, and what to change on this host.
 */
#ifndef STEPBOX_REMEDY_H
#define STEPBOX_REMEDY_H

#include <stddef.h>

/* Writes a message for people: what bwrap said (its stderr, may be empty), and the remedy if it is
 * a known one. */
void remedy_explain(const char *bwrap_stderr, char *message, size_t room);

/* bwrap itself could not be run. */
void remedy_no_bwrap(const char *path, int error, char *message, size_t room);

#endif
