/*
 * path.h - paths as clients give them, and the directories that lead to one.
 */
#ifndef STEPBOX_PATH_H
#define STEPBOX_PATH_H

#include "agent.h"

#include <stddef.h>

/* The absolute path, to be freed, at most PATH_MAX bytes with its NUL. An empty path is the default
 * working directory or home, "~" and "~/x" are below home, an absolute path stays as it is, and any
 * other is relative to home, with "." and ".." taken out of it by name. NULL: *fault says why, as
 * in "the path contains NUL". */
char *path_resolve(const struct agent *agent, const char *path, size_t length, const char **fault);

/* The last component of a path, without slashes at the end: *length bytes of it. "/" for the root.
 */
const char *path_name(const char *path, size_t *length);

/* Makes a directory, or all that lead to the last component, where they are missing; others may be
 * making the same ones. 0, or -1 with errno (ENOTDIR: a file, or a link that leads nowhere,
 * is in the way). */
int path_make_directories(const char *path);
int path_make_parents(const char *path);

#endif
