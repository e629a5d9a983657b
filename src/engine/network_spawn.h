/*
 * network_spawn.h - starts stepbox-egress for a sandbox.
 */
#ifndef STEPBOX_NETWORK_SPAWN_H
#define STEPBOX_NETWORK_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

/* As host user `uid` with group `gid` (uid 0: our own), for the sandbox whose PID 1 is `init`, of
 * which pidfd is a descriptor. *control_fd is our end of its control socket, non-blocking. Its pid,
 * or -1 with message. */
pid_t network_spawn(uid_t uid, gid_t gid, pid_t init, int pidfd, int *control_fd, char *message,
                    size_t room);

#endif
