/*
 * name_service.h - the resolver of a sandbox: hands queries to the host's resolvers, or answers
 * from the pool of names, or knows no name, as the policy says.
 */
#ifndef STEPBOX_NAME_SERVICE_H
#define STEPBOX_NAME_SERVICE_H

#include <ev.h>

/* Serves the sockets (taken; non-blocking) as long as the process lives. */
void name_service_start(struct ev_loop *loop, int udp_fd, int tcp_fd);

#endif
