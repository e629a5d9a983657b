/*
 * host_uid.h - the unprivileged user that a sandbox is on the host when the engine runs as root.
 *
 * Each sandbox gets one of its own, so that neither the host's root nor another sandbox is behind
 * its user.
 */
#ifndef STEPBOX_HOST_UID_H
#define STEPBOX_HOST_UID_H

#include <sys/types.h>

typedef struct host_uid_range {
    uid_t first;
    uid_t count;
} host_uid_range;

/* Where to take the users from. Returns 0; a count of 0 means that sandboxes can run as who we are,
 * because that is not the host's root. Returns -1 when we are, and there is no unprivileged user to
 * become. */
int host_uid_range_find(host_uid_range *range);

/* In the child: becomes this user and group, with no others. 0, or -1 with errno. */
int host_uid_become(uid_t uid);

#endif
