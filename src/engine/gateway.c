#include "gateway.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "farewell.h"
#include "log.h"
#include "process.h"
#include "pump.h"
#include "raw_reply.h"
#include "route.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define HEAD_MAX (64 * 1024)
#define HEAD_SECONDS 10.0

/* A connection waits for its head, is pumped, is closed properly; then its slot is free again. */
enum stage { STAGE_FREE, STAGE_HEAD, STAGE_PUMP, STAGE_FAREWELL };

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
    size_t used, room, scanned;
    /* Then: */
    struct pump *pump;
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

/* What the official gateway answers, for sandboxes that are not there and for ports that nobody
 * serves. */
static size_t bad_gateway(char reply[RAW_REPLY_SIZE], const struct route *route,
                          bool sandbox_is_there) {
    json_t *body = json_pack("{s:s, s:s, s:i}", "sandboxId", route->id, "message",
                             sandbox_is_there ? "The sandbox is running but port is not open"
                                              : "The sandbox was not found",
                             "code", 502);
    if (body && sandbox_is_there)
        json_object_set_new(body, "port", json_integer(route->port));
    return raw_reply(reply, 502, body);
}

static void on_pump_done(int client_fd, bool silent, void *user) {
    struct connection *connection = user;
    char reply[RAW_REPLY_SIZE];
    size_t length = 0;
    connection->pump = NULL;
    if (client_fd < 0) {
        release(connection);
        return;
    }
    if (silent && connection->route.to_sandbox) {
        bool there =
            sandboxes_find(connection->gateway->config.sandboxes, connection->route.id) != NULL;
        length = bad_gateway(reply, &connection->route, there);
    }
    say_farewell(connection, client_fd, reply, length);
}

/* Gives the other end of a socket pair to the target. 0, or -1. */
static int hand_over(struct connection *connection, struct sandbox *sandbox, int fd) {
    if (sandbox)
        return sandbox_connect(sandbox, fd, connection->route.port);
    return http_server_add(connection->gateway->control, fd, tag_of(connection));
}

static void start_pump(struct connection *connection, struct sandbox *sandbox) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0) {
        refuse(connection, 503, "the engine has no descriptors left");
        return;
    }
    struct route *route = &connection->route;
    struct request_end limit;
    request_end_init(&limit, route);
    connection->pump = pump_start(&(pump_config){.loop = connection->gateway->config.loop,
                                                 .client_fd = connection->fd,
                                                 .target_fd = ends[0],
                                                 .first = connection->head,
                                                 .first_length = connection->used,
                                                 .head_length = route->head_length,
                                                 .limit = route->by_header ? &limit : NULL,
                                                 .done = on_pump_done,
                                                 .user = connection});
    stop_head(connection);
    if (!connection->pump) {
        close(ends[1]);
        release(connection);
        return;
    }
    connection->stage = STAGE_PUMP;
    if (hand_over(connection, sandbox, ends[1]) < 0) {
        /* The pump sees the end of its connection, and the client gets a 502 or an end. */
        log_warn("a connection could not be handed over");
    }
}

static void pass_on(struct connection *connection) {
    struct route *route = &connection->route;
    struct sandbox *sandbox = NULL;
    if (route->to_sandbox) {
        sandbox = sandboxes_find(connection->gateway->config.sandboxes, route->id);
        if (!sandbox) {
            char reply[RAW_REPLY_SIZE];
            size_t length = bad_gateway(reply, route, false);
            stop_head(connection);
            say_farewell(connection, connection->fd, reply, length);
            return;
        }
    }
    start_pump(connection, sandbox);
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
