#include "gateway.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api_key.h"
#include "farewell.h"
#include "first_request.h"
#include "log.h"
#include "port_opening.h"
#include "process.h"
#include "pump.h"
#include "raw_reply.h"
#include "route.h"
#include "stream_socket.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define HEAD_MAX (64 * 1024)
#define HEAD_SECONDS 10.0

static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";

/* A connection waits for its head, for the port that it asked for with CONNECT, is pumped, is
 * closed properly; then its slot is free again. */
enum stage { STAGE_FREE, STAGE_HEAD, STAGE_OPENING, STAGE_PUMP, STAGE_FAREWELL };

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

/* A tag outlives the connection in the HTTP server, so it is no pointer: generation and slot, never
 * 0. */
#define SLOT_BITS 12
#define SLOT_MASK (((uintptr_t)1 << SLOT_BITS) - 1)

static void *tag_of(const struct connection *connection) {
    uintptr_t slot = (uintptr_t)(connection - connection->gateway->connections);
    return (void *)((uintptr_t)connection->generation << SLOT_BITS | slot);
}

static const struct connection *find(const struct gateway *gateway, void *tag) {
    size_t slot = (uintptr_t)tag & SLOT_MASK;
    const struct connection *connection =
        slot < gateway->config.max_connections ? &gateway->connections[slot] : NULL;
    return connection && connection->stage == STAGE_PUMP && tag_of(connection) == tag ? connection
                                                                                      : NULL;
}

static void release(struct connection *connection) {
    struct gateway *gateway = connection->gateway;
    connection->stage = STAGE_FREE;
    connection->generation++;
    connection->next_free = gateway->first_free;
    gateway->first_free = connection;
    gateway->count--;
    gateway->config.on_change(gateway->config.user);
}

static void stop_head(struct connection *connection) {
    ev_io_stop(connection->gateway->config.loop, &connection->readable);
    ev_timer_stop(connection->gateway->config.loop, &connection->deadline);
    free(connection->head);
    connection->head = NULL;
}

static void on_farewell_done(void *user) {
    release(user);
}

static void say_farewell(struct connection *connection, int fd, const char *bytes, size_t length) {
    connection->stage = STAGE_FAREWELL;
    connection->farewell = farewell_start(connection->gateway->config.loop, fd, bytes, length,
                                          on_farewell_done, connection);
    if (!connection->farewell)
        release(connection);
}

/* Answers a connection that goes nowhere. */
static void refuse(struct connection *connection, int status, const char *message) {
    char reply[RAW_REPLY_SIZE];
    size_t length = raw_reply_error(reply, status, message);
    stop_head(connection);
    say_farewell(connection, connection->fd, reply, length);
}

static void refuse_port(struct connection *connection, bool sandbox_is_there) {
    char reply[RAW_REPLY_SIZE];
    size_t length = raw_reply_bad_gateway(reply, &connection->route, sandbox_is_there);
    stop_head(connection);
    say_farewell(connection, connection->fd, reply, length);
}

static struct sandbox *sandbox_of(const struct connection *connection) {
    return sandboxes_find(connection->gateway->config.sandboxes, connection->route.id);
}

static void on_pump_done(int client_fd, bool silent, void *user) {
    struct connection *connection = user;
    bool to_sandbox = connection->route.to_sandbox;
    connection->pump = NULL;
    if (client_fd < 0) {
        release(connection);
    } else if (to_sandbox && silent) {
        connection->fd = client_fd;
        refuse_port(connection, sandbox_of(connection) != NULL);
    } else if (to_sandbox && !sandbox_of(connection)) {
        /* It may have ended in the middle of an answer, which must not look like all of it. */
        stream_socket_reset(client_fd);
        release(connection);
    } else {
        say_farewell(connection, client_fd, NULL, 0);
    }
}

/* The first request alone for a sandbox that a header names, else all that comes. */
static void start_pump(struct connection *connection) {
    const struct route *route = &connection->route;
    first_request_init(&connection->first_request, route);
    connection->pump =
        pump_start(&(pump_config){.loop = connection->gateway->config.loop,
                                  .mode = PUMP_ANSWERED,
                                  .client_fd = connection->fd,
                                  .target_fd = connection->target_fd,
                                  .to_target = connection->head,
                                  .to_target_length = connection->used,
                                  .ungated_length = route->head_length,
                                  .gate = route->by_header ? &first_request_gate : NULL,
                                  .gate_user = &connection->first_request,
                                  .done = on_pump_done,
                                  .user = connection});
}

/* All that comes behind the head, both ways. */
static void start_tunnel(struct connection *connection) {
    size_t head_length = connection->route.head_length;
    uint16_t port = connection->route.port;
    connection->pump = pump_start(
        &(pump_config){.loop = connection->gateway->config.loop,
                       .mode = PUMP_BOTH_ENDED,
                       .client_fd = connection->fd,
                       .target_fd = connection->target_fd,
                       .target_half_closes = port != ROUTE_DEFAULT_PORT && port != ROUTE_CODE_PORT,
                       .to_target = connection->head + head_length,
                       .to_target_length = connection->used - head_length,
                       .to_client = established,
                       .to_client_length = sizeof established - 1,
                       .done = on_pump_done,
                       .user = connection});
}

static void pump(struct connection *connection, void (*start)(struct connection *)) {
    start(connection);
    stop_head(connection);
    if (connection->pump)
        connection->stage = STAGE_PUMP;
    else
        release(connection);
}

static void on_port_opened(bool accepted, void *user) {
    struct connection *connection = user;
    connection->opening = NULL;
    if (accepted) {
        pump(connection, start_tunnel);
    } else {
        close(connection->target_fd);
        refuse_port(connection, sandbox_of(connection) != NULL);
    }
}

/* Waits for the port. Nothing more of the client is read meanwhile. */
static void open_port(struct connection *connection) {
    ev_io_stop(connection->gateway->config.loop, &connection->readable);
    ev_timer_stop(connection->gateway->config.loop, &connection->deadline);
    connection->opening = port_opening_start(connection->gateway->config.loop,
                                             connection->target_fd, on_port_opened, connection);
    if (connection->opening) {
        connection->stage = STAGE_OPENING;
        return;
    }
    close(connection->target_fd);
    refuse(connection, 503, "the engine has no memory left");
}

/* Gives the other end of a socket pair to the target. 0, or -1. */
static int hand_over(struct connection *connection, struct sandbox *sandbox, int fd) {
    const struct route *route = &connection->route;
    if (sandbox)
        return sandbox_connect(sandbox, fd, route->port, route->tunnel);
    return http_server_add(connection->gateway->control, fd, tag_of(connection));
}

static bool may_tunnel(const struct connection *connection) {
    const struct route *route = &connection->route;
    return connection->transport == TRANSPORT_UNIX ||
           api_key_is(connection->gateway->config.api_key, route->api_key, route->api_key_length);
}

static void pass_on(struct connection *connection) {
    const struct route *route = &connection->route;
    struct sandbox *sandbox = route->to_sandbox ? sandbox_of(connection) : NULL;
    int ends[2];
    if (route->tunnel && !may_tunnel(connection)) {
        refuse(connection, 401, api_key_complaint(route->api_key));
        return;
    }
    if (route->to_sandbox && !sandbox) {
        refuse_port(connection, false);
        return;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0) {
        refuse(connection, 503, "the engine has no descriptors left");
        return;
    }
    connection->target_fd = ends[0];
    if (route->tunnel)
        open_port(connection);
    else
        pump(connection, start_pump);
    if (connection->stage != STAGE_PUMP && connection->stage != STAGE_OPENING)
        close(ends[1]);
    else if (hand_over(connection, sandbox, ends[1]) < 0)
        /* The end of the connection is seen, and the client gets a 502 or an end. */
        log_warn("a connection could not be handed over");
}

/* Room for at least one more byte of the head; -1 when there is none. */
static int make_room(struct connection *connection) {
    if (connection->used < connection->room)
        return 0;
    size_t room = connection->room ? connection->room * 2 : 4096;
    char *head = realloc(connection->head, room);
    if (!head)
        return -1;
    connection->head = head;
    connection->room = room;
    return 0;
}

static void on_head_readable(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    struct connection *connection = io->data;
    if (make_room(connection) < 0) {
        refuse(connection, 503, "the engine has no memory left");
        return;
    }
    ssize_t got = recv(connection->fd, connection->head + connection->used,
                       connection->room - connection->used, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        stop_head(connection);
        close(connection->fd);
        release(connection);
        return;
    }
    connection->used += (size_t)got;
    switch (
        route_parse(connection->head, connection->used, &connection->scanned, &connection->route)) {
    case ROUTE_DONE:
        pass_on(connection);
        break;
    case ROUTE_BAD:
        refuse(connection, 400, connection->route.bad);
        break;
    case ROUTE_MORE:
        if (connection->used >= HEAD_MAX)
            refuse(connection, 431, "the head of the request is over 64 KiB");
        break;
    }
}

static void on_head_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct connection *connection = timer->data;
    if (connection->used > 0) {
        refuse(connection, 408, "the head of the request did not come within 10 seconds");
        return;
    }
    /* Opened in advance and never used: an answer could be taken for that to a request on its way.
     */
    stop_head(connection);
    say_farewell(connection, connection->fd, NULL, 0);
}

struct gateway *gateway_new(const gateway_config *config) {
    struct gateway *gateway = calloc(1, sizeof *gateway);
    if (!gateway)
        return NULL;
    gateway->config = *config;
    if (gateway->config.max_connections > SLOT_MASK)
        gateway->config.max_connections = SLOT_MASK;
    gateway->connections = calloc(gateway->config.max_connections, sizeof *gateway->connections);
    if (!gateway->connections) {
        free(gateway);
        return NULL;
    }
    for (size_t i = gateway->config.max_connections; i-- > 0;) {
        struct connection *connection = &gateway->connections[i];
        connection->gateway = gateway;
        connection->generation = 1;
        connection->next_free = gateway->first_free;
        gateway->first_free = connection;
        ev_io_init(&connection->readable, on_head_readable, -1, EV_READ);
        ev_timer_init(&connection->deadline, on_head_deadline, HEAD_SECONDS, 0.0);
        connection->readable.data = connection->deadline.data = connection;
    }
    return gateway;
}

void gateway_set_control(struct gateway *gateway, http_server *control) {
    gateway->control = control;
}

void gateway_free(struct gateway *gateway) {
    for (size_t i = 0; i < gateway->config.max_connections; i++) {
        struct connection *connection = &gateway->connections[i];
        if (connection->stage == STAGE_HEAD) {
            stop_head(connection);
            close(connection->fd);
        } else if (connection->stage == STAGE_OPENING) {
            port_opening_cancel(connection->opening);
            stop_head(connection);
            close(connection->target_fd);
            close(connection->fd);
        } else if (connection->stage == STAGE_PUMP) {
            pump_stop(connection->pump);
        } else if (connection->stage == STAGE_FAREWELL) {
            farewell_stop(connection->farewell);
        }
    }
    free(gateway->connections);
    free(gateway);
}

void gateway_add(struct gateway *gateway, int fd, enum transport transport, pid_t pid) {
    struct connection *connection = gateway->first_free;
    if (!connection) {
        char reply[RAW_REPLY_SIZE];
        size_t length = raw_reply_error(reply, 503, "the engine has too many connections");
        log_warn("refused a connection: there are %zu already", gateway->count);
        /* A client that does not read fast enough for this must do without. */
        if (send(fd, reply, length, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
            shutdown(fd, SHUT_WR);
        close(fd);
        return;
    }
    gateway->first_free = connection->next_free;
    gateway->count++;
    connection->stage = STAGE_HEAD;
    connection->transport = transport;
    connection->pid = pid;
    connection->fd = fd;
    connection->used = connection->room = connection->scanned = 0;
    connection->pump = NULL;
    connection->farewell = NULL;
    ev_io_set(&connection->readable, fd, EV_READ);
    ev_timer_set(&connection->deadline, HEAD_SECONDS, 0.0);
    ev_io_start(gateway->config.loop, &connection->readable);
    ev_timer_start(gateway->config.loop, &connection->deadline);
    gateway->config.on_change(gateway->config.user);
}

size_t gateway_count(const struct gateway *gateway) {
    return gateway->count;
}

bool gateway_transport(const struct gateway *gateway, void *tag, enum transport *transport) {
    const struct connection *connection = find(gateway, tag);
    if (connection)
        *transport = connection->transport;
    return connection != NULL;
}

int gateway_open_peer(const struct gateway *gateway, void *tag) {
    const struct connection *connection = find(gateway, tag);
    if (!connection || connection->transport != TRANSPORT_UNIX || connection->pid <= 0)
        return -1;
    int pidfd;
    socklen_t size = sizeof pidfd;
    if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0)
        return pidfd;
    pidfd = process_open(connection->pid);
    /* The number could be another process's by now; but then the one that connected has ended, and
     * so has its socket. */
    struct pollfd state = {.fd = connection->fd, .events = POLLRDHUP};
    if (pidfd >= 0 && poll(&state, 1, 0) > 0) {
        close(pidfd);
        return -1;
    }
    return pidfd;
}
