/*
 * network_internal.h - what network.c (the link and its changes) and network_describe.c (what is
 * told of it) share.
 */
#ifndef STEPBOX_NETWORK_INTERNAL_H
#define STEPBOX_NETWORK_INTERNAL_H

#include "network.h"

/* What was asked of stepbox-egress and is not answered. The oldest first. */
struct change {
    struct change *next;
    network_done *done; /* NULL: nobody waits */
    void *user;
};

struct network {
    network_owner owner;
    network_config config;
    pid_t init;
    int pidfd; /* of PID 1, our own copy; -1: never had a link */
    pid_t pid; /* of stepbox-egress; 0: it does not run */
    int control_fd;
    bool up;         /* it has answered once */
    char error[512]; /* why it ended, as far as it said */
    unsigned restarts;
    double restart_after;
    struct change *changes;
    ev_io readable;
    ev_child exited;
    ev_timer restart, deadline;
};

#endif
