/*
 * gateway_internal.h - a connection of the gateway, for the files that make it up: gateway.c takes
 * connections and reads their heads, gateway_pass.c passes them on, gateway_wake.c has them wait
 * for a paused sandbox.
 */
#ifndef STEPBOX_GATEWAY_INTERNAL_H
#define STEPBOX_GATEWAY_INTERNAL_H

#include "gateway.h"

#include <stdint.h>

#include "farewell.h"
#include "first_request.h"
#include "port_opening.h"
#include "pump.h"
#include "raw_reply.h"
#include "route.h"

/* A connection waits for its head, for its sandbox to be resumed, for the port that it asked for
 * with CONNECT, is pumped, is closed properly; then its slot is free again. */
enum stage { STAGE_FREE, STAGE_HEAD, STAGE_WAKING, STAGE_OPENING, STAGE_PUMP, STAGE_FAREWELL };

struct connection {
    struct gateway *gateway;
    enum stage stage;
    uint32_t generation; /* tells apart the connections that had this slot */
    struct connection *next_free;
    enum transport transport;
    pid_t pid;
    int fd; /* while pumped, the pump's */
    /* While the head is read: */
    ev_io readable;
    ev_timer deadline;
    char *head;
    size_t used, room, scanned; /* the head is kept while a port is opened */
    /* Then: */
    int target_fd; /* while a port is opened; then the pump's */
    struct port_opening *opening;
    struct pump *pump;
    struct first_request first_request;
    struct farewell *farewell;
    struct route route;
};

struct gateway {
    gateway_config config;
    http_server *control;
    struct connection *connections; /* max_connections slots */
    struct connection *first_free;
    size_t count;
};

/* gateway.c */

/* Outlives the connection in the HTTP server, so it is no pointer. */
void *gateway_connection_tag(const struct connection *connection);
/* Frees the slot. */
void gateway_connection_release(struct connection *connection);
/* The head is needed no more, nor anything that comes. */
void gateway_connection_stop_head(struct connection *connection);
/* Ends it so that the client sees these bytes; fd is taken. */
void gateway_connection_farewell(struct connection *connection, int fd, const char *bytes,
                                 size_t length);
/* Answers a connection that goes nowhere. */
void gateway_connection_refuse(struct connection *connection, int status, const char *message);

/* gateway_wake.c: has a connection whose head was read wait for its sandbox, which is not running;
 * then passes it. */
void gateway_connection_wake(struct connection *connection, struct sandbox *sandbox);

/* The client of one that was passed has sent something. */
void gateway_connection_heard(void *connection);

/* gateway_pass.c: gives a connection whose head was read, and what follows, to where it belongs. */
void gateway_connection_pass(struct connection *connection);

#endif
