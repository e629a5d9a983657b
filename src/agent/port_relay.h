/*
 * port_relay.h - connections for servers that run inside the sandbox: each is connected to a port
 * of the loopback interface and relayed both ways.
 */
#ifndef STEPBOX_PORT_RELAY_H
#define STEPBOX_PORT_RELAY_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connections at the same time; another is closed at once. */
#define PORT_RELAY_MAX 1024
/* Seconds for a server to accept, on each of 127.0.0.1 and ::1. */
#define PORT_RELAY_CONNECT 5.0

typedef struct port_relays port_relays;

/* NULL when out of memory. */
port_relays *port_relays_new(struct ev_loop *loop);
/* Breaks every connection. */
void port_relays_free(port_relays *relays);

/* Takes a connected, non-blocking stream socket. When nobody listens on the port it is closed
 * without a byte. announce: CONTROL_ACCEPTED is sent before anything else once the port has
 * accepted. */
void port_relays_add(port_relays *relays, int fd, uint16_t port, bool announce);

size_t port_relays_count(const port_relays *relays);

#endif
