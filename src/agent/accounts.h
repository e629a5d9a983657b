/*
 * accounts.h - the names of users and groups, as /etc/passwd and /etc/group of the sandbox have
 * them.
 *
 * Not by getpwuid(3): what that loads and whom it asks is written in /etc/nsswitch.conf, and `root`
 * of a sandbox would have the agent load a library of its own.
 */
#ifndef STEPBOX_ACCOUNTS_H
#define STEPBOX_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The name of an id, cut to the room; false when there is none. */
bool account_user_name(uid_t id, char *name, size_t room);
bool account_group_name(gid_t id, char *name, size_t room);

#endif
