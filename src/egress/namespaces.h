/*
 * namespaces.h - the namespaces of a sandbox, and short-lived processes that work inside them.
 */
#ifndef STEPBOX_NAMESPACES_H
#define STEPBOX_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Each mount and network namespace belongs to a user namespace, which need not be the one that PID
 * 1 is in: only the owner gives capabilities over it. */
struct namespaces {
    int net_fd, net_user_fd;
    int mount_fd, mount_user_fd;
};

/* Opens those of the process. `pidfd` is of the same process: that it lives afterwards proves that
 * the number was still its own. 0, or -1 with errno. */
int namespaces_open(struct namespaces *ns, pid_t pid, int pidfd);

typedef enum namespace_kind { INSIDE_NETWORK, INSIDE_MOUNTS } namespace_kind;

/* In a process that has entered: what it has to do. Returns 0, or -1 with a message for people. */
typedef int inside_work(void *user, char *message, size_t room);

/* Runs work inside, and waits for it. 0, or -1 with message. */
int inside_run(const struct namespaces *ns, namespace_kind kind, inside_work *work, void *user,
               char *message, size_t room);

/* Starts a process that stays in the sandbox's network until it is killed, for programs that find a
 * network by a process. Its pid, or -1 with errno. */
pid_t inside_anchor(const struct namespaces *ns);

/* Gives a capability to the programs that this process will execute. 0, or -1 with errno. */
int inside_keep_capability(int capability);

#endif
