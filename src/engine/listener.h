/*
 * listener.h - accepts connections.
 */
#ifndef STEPBOX_LISTENER_H
#define STEPBOX_LISTENER_H

#include <ev.h>
#include <sys/socket.h>

#include "gateway.h"

struct listener {
    struct ev_loop *loop;
    struct gateway *gateway;
    enum transport transport;
    ev_io acceptable;
    ev_timer pause; /* until descriptors are free again */
};

/* fd: a listening, non-blocking socket; stays the caller's. On a unix socket only processes of the
 * same user and of root are let in. */
void listener_start(struct listener *listener, struct ev_loop *loop, int fd,
                    enum transport transport, struct gateway *gateway);
void listener_stop(struct listener *listener);

/* A listening, non-blocking TCP socket, CLOEXEC; -1 with errno. */
int listener_open_tcp(const struct sockaddr_storage *address, socklen_t length);

#endif
