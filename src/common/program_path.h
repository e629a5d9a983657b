/*
 * program_path.h - finds the system's programs.
 */
#ifndef STEPBOX_PROGRAM_PATH_H
#define STEPBOX_PROGRAM_PATH_H

#include <limits.h>
#include <stdbool.h>

/* On PATH (its absolute directories alone), then in the usual ones, /usr/sbin and /sbin with them,
 * which users do not have on theirs. `path` has room for PATH_MAX. */
bool program_path_find(const char *name, char path[PATH_MAX]);

#endif
