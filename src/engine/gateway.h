/*
 * gateway.h - the clients' connections: each is read up to the end of its first request's head, and
 * then passed as a whole to the control plane or to a sandbox.
 *
 * A sandbox is named by the host's name or by headers. CONNECT asks for bytes of any protocol to be
 * passed: it is answered when the port in the sandbox has accepted the connection.
 */
#ifndef STEPBOX_GATEWAY_H
#define STEPBOX_GATEWAY_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "http_server.h"
#include "sandbox.h"

struct gateway;

enum transport { TRANSPORT_UNIX, TRANSPORT_TCP };

typedef struct gateway_config {
    struct ev_loop *loop;
    struct sandboxes *sandboxes;
    size_t max_connections;
    const char *api_key;           /* asked for on TCP before a tunnel is opened */
    void (*on_change)(void *user); /* a connection came or went */
    void *user;
} gateway_config;

/* NULL when out of memory. */
struct gateway *gateway_new(const gateway_config *config);
/* Breaks every connection. */
void gateway_free(struct gateway *gateway);
/* Where control connections go; set before the first is added. Their tag is for gateway_transport()
 * and others. */
void gateway_set_control(struct gateway *gateway, http_server *control);

/* Takes a connected, non-blocking socket. pid: the peer's on a unix socket, else 0. */
void gateway_add(struct gateway *gateway, int fd, enum transport transport, pid_t pid);

size_t gateway_count(const struct gateway *gateway);

/* Of the client behind a control connection's tag. False when the client has gone meanwhile. */
bool gateway_transport(const struct gateway *gateway, void *tag, enum transport *transport);

/* A new pidfd of the process behind a control connection on a unix socket; -1 when it has gone or
 * cannot be seen. */
int gateway_open_peer(const struct gateway *gateway, void *tag);

#endif
