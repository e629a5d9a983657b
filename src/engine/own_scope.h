/*
 * own_scope.h - a control group of its own for an engine that a user's program starts.
 *
 * Such an engine begins in the group of that program, in which others are in the way. The user's
 * systemd gives out groups (scopes) that a program may divide further: the engine starts itself
 * anew in one. Where that cannot be had it stays where it is, and rlimits have to do.
 */
#ifndef STEPBOX_OWN_SCOPE_H
#define STEPBOX_OWN_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "cgroup_places.h"

/* Executes the program anew, with the same arguments; returns when that cannot be, or need not. To
 * be called early, with nothing opened that is close-on-exec and needed. */
void own_scope_enter(char **argv);

/* Whether these hierarchies are those of a host where it helps: version 2 has the memory. */
bool own_scope_helps(const struct cgroup_place *places, size_t count);

/* Whether a program succeeds with these arguments, within some seconds. */
bool own_scope_try(const char *program, char *const argv[]);

#endif
