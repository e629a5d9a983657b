#include "gateway_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "process.h"
#include "raw_reply.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define HEAD_MAX (64 * 1024)
#define HEAD_SECONDS 10.0

/* A tag outlives the connection in the HTTP server, so it is no pointer: generation and slot, never
 * 0. */
#define SLOT_BITS 12
#define SLOT_MASK (((uintptr_t)1 << SLOT_BITS) - 1)

void *gateway_connection_tag(const struct connection *connection) {
    uintptr_t slot = (uintptr_t)(connection - connection->gateway->connections);
    return (void *)((uintptr_t)connection->generation << SLOT_BITS | slot);
}

static const struct connection *find(const struct gateway *gateway, void *tag) {
    size_t slot = (uintptr_t)tag & SLOT_MASK;
    const struct connection *connection =
        slot < gateway->config.max_connections ? &gateway->connections[slot] : NULL;
    return connection && connection->stage == STAGE_PUMP &&
                   gateway_connection_tag(connection) == tag
               ? connection
               : NULL;
}

void gateway_connection_release(struct connection *connection) {
    struct gateway *gateway = connection->gateway;
    connection->stage = STAGE_FREE;
    connection->generation++;
    connection->next_free = gateway->first_free;
    gateway->first_free = connection;
    gateway->count--;
    gateway->config.on_change(gateway->config.user);
}

void gateway_connection_stop_head(struct connection *connection) {
    ev_io_stop(connection->gateway->config.loop, &connection->readable);
    ev_timer_stop(connection->gateway->config.loop, &connection->deadline);
    free(connection->head);
    connection->head = NULL;
}

static void on_farewell_done(void *user) {
    gateway_connection_release(user);
}

void gateway_connection_farewell(struct connection *connection, int fd, const char *bytes,
                                 size_t length) {
    connection->stage = STAGE_FAREWELL;
    connection->farewell = farewell_start(connection->gateway->config.loop, fd, bytes, length,
                                          on_farewell_done, connection);
    if (!connection->farewell)
        gateway_connection_release(connection);
}

void gateway_connection_refuse(struct connection *connection, int status, const char *message) {
    char reply[RAW_REPLY_SIZE];
    size_t length = raw_reply_error(reply, status, message);
    gateway_connection_stop_head(connection);
    gateway_connection_farewell(connection, connection->fd, reply, length);
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
        gateway_connection_refuse(connection, 503, "the engine has no memory left");
        return;
    }
    ssize_t got = recv(connection->fd, connection->head + connection->used,
                       connection->room - connection->used, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        gateway_connection_stop_head(connection);
        close(connection->fd);
        gateway_connection_release(connection);
        return;
    }
    connection->used += (size_t)got;
    switch (
        route_parse(connection->head, connection->used, &connection->scanned, &connection->route)) {
    case ROUTE_DONE:
        gateway_connection_pass(connection);
        break;
    case ROUTE_BAD:
        gateway_connection_refuse(connection, 400, connection->route.bad);
        break;
    case ROUTE_MORE:
        if (connection->used >= HEAD_MAX)
            gateway_connection_refuse(connection, 431, "the head of the request is over 64 KiB");
        break;
    }
}

static void on_head_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct connection *connection = timer->data;
    if (connection->used > 0) {
        gateway_connection_refuse(connection, 408,
                                  "the head of the request did not come within 10 seconds");
        return;
    }
    /* Opened in advance and never used: an answer could be taken for that to a request on its way.
     */
    gateway_connection_stop_head(connection);
    gateway_connection_farewell(connection, connection->fd, NULL, 0);
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
        if (connection->stage == STAGE_HEAD || connection->stage == STAGE_WAKING) {
            gateway_connection_stop_head(connection);
            close(connection->fd);
        } else if (connection->stage == STAGE_OPENING) {
            port_opening_cancel(connection->opening);
            gateway_connection_stop_head(connection);
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

/* Anybody can open connections over TCP: a quarter is for those who come over the unix socket. */
static bool has_room(const struct gateway *gateway, enum transport transport) {
    size_t max = gateway->config.max_connections;
    return gateway->count < (transport == TRANSPORT_TCP ? max - max / 4 : max);
}

void gateway_add(struct gateway *gateway, int fd, enum transport transport, pid_t pid) {
    struct connection *connection = has_room(gateway, transport) ? gateway->first_free : NULL;
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
