/*
 * helper.h - the program that carries a sandbox's packets to sockets of the host: pasta, or
 * slirp4netns where there is no pasta.
 */
#ifndef STEPBOX_HELPER_H
#define STEPBOX_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct helper {
    const char *name; /* "pasta" or "slirp4netns" */
    bool both;        /* it gives the link addresses of IPv4 and of IPv6 */
    pid_t pid;
    int errors_fd; /* what it writes to stderr; it ends when the helper does. Non-blocking. */
};

/* Starts it for the network that the process `anchor` is in. 0, or -1 with message. */
int helper_start(struct helper *helper, pid_t anchor, char *message, size_t room);

/* Writes what it has said, as one line for people. */
void helper_complaint(const struct helper *helper, char *message, size_t room);

#endif
