/*
 * user_namespace.h - how the process that becomes a sandbox gets its user namespace.
 *
 * For the new process, between fork and exec: what it cannot do is said on stderr.
 */
#ifndef STEPBOX_USER_NAMESPACE_H
#define STEPBOX_USER_NAMESPACE_H

#include "id_space.h"

/* Directories of the host whose owners are shown as the sandbox's `root`: copies of their mounts,
 * that need only be moved into place; -1 where that is not possible. */
#define HOST_TREES 2
extern const char *const host_trees[HOST_TREES]; /* /usr, /var/lib/dpkg */

/* What only the host's root can make, as descriptors: those trees, and devices (own_devices.h). */
#define ROOTS_MOUNTS (HOST_TREES + 1)
#define MOUNT_OF_DEVICES HOST_TREES

/* Becomes root of a new user namespace in which the ids are mapped, and owned by the keeper.
 * mounts: filled when the engine is root, unless NULL. 0, or -1. */
int user_namespace_enter(const struct sandbox_ids *ids, int mounts[ROOTS_MOUNTS]);

#endif
