/* gateway_pass.c - passes connections to the control plane and to sandboxes. */
#include "gateway_internal.h"

#include <sys/socket.h>
#include <unistd.h>

#include "api_key.h"
#include "log.h"
#include "raw_reply.h"
#include "stream_socket.h"

static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";

/* To a server of somebody else's in the sandbox, not to the agent. */
static bool is_relayed(const struct route *route) {
    return route->to_sandbox && route->port != ROUTE_DEFAULT_PORT && route->port != ROUTE_CODE_PORT;
}

static void refuse_port(struct connection *connection, bool sandbox_is_there) {
    char reply[RAW_REPLY_SIZE];
    size_t length = raw_reply_bad_gateway(reply, &connection->route, sandbox_is_there);
    gateway_connection_stop_head(connection);
    gateway_connection_farewell(connection, connection->fd, reply, length);
}

static struct sandbox *sandbox_of(const struct connection *connection) {
    return sandboxes_find(connection->gateway->config.sandboxes, connection->route.id);
}

static void on_pump_done(int client_fd, bool silent, void *user) {
    struct connection *connection = user;
    bool to_sandbox = connection->route.to_sandbox;
    connection->pump = NULL;
    if (client_fd < 0) {
        gateway_connection_release(connection);
    } else if (to_sandbox && silent) {
        connection->fd = client_fd;
        refuse_port(connection, sandbox_of(connection) != NULL);
    } else if (is_relayed(&connection->route) && !sandbox_of(connection)) {
        /* It may have ended in the middle of an answer, which must not look like all of it. (The
         * agent's own answers tell themselves where they end.) */
        stream_socket_reset(client_fd);
        gateway_connection_release(connection);
    } else {
        gateway_connection_farewell(connection, client_fd, NULL, 0);
    }
}

/* Whether who comes has to show the sandbox's token for traffic. The agent asks for one of its own,
 * unless the sandbox was made without; tunnels are for those who may do anything. */
static bool is_guarded(const struct route *route, const struct sandbox_record *record) {
    return record->traffic_token[0] && !route->tunnel &&
           (is_relayed(route) || (!record->token[0] && route->port == ROUTE_CODE_PORT));
}

/* Answers and returns true when it is not shown. */
static bool refuse_traffic(struct connection *connection, const struct sandbox_record *record) {
    const struct route *route = &connection->route;
    char reply[RAW_REPLY_SIZE];
    if (!is_guarded(route, record) ||
        api_key_is(record->traffic_token, route->traffic_token, route->traffic_token_length))
        return false;
    size_t length = raw_reply_no_traffic(reply, route, route->traffic_token != NULL);
    gateway_connection_stop_head(connection);
    gateway_connection_farewell(connection, connection->fd, reply, length);
    return true;
}

/* The first request alone for a sandbox that a header names, or that wants to see a token with
 * each, else all that comes. */
static void start_pump(struct connection *connection) {
    const struct route *route = &connection->route;
    const struct sandbox *sandbox = sandbox_of(connection);
    bool one = route->by_header ||
               (route->to_sandbox && sandbox && is_guarded(route, sandbox_record_of(sandbox)));
    first_request_init(&connection->first_request, route);
    connection->pump = pump_start(&(pump_config){.loop = connection->gateway->config.loop,
                                                 .mode = PUMP_ANSWERED,
                                                 .client_fd = connection->fd,
                                                 .target_fd = connection->target_fd,
                                                 .to_target = connection->head,
                                                 .to_target_length = connection->used,
                                                 .ungated_length = route->head_length,
                                                 .gate = one ? &first_request_gate : NULL,
                                                 .gate_user = &connection->first_request,
                                                 .heard = gateway_connection_heard,
                                                 .done = on_pump_done,
                                                 .user = connection});
}

/* All that comes behind the head, both ways. */
static void start_tunnel(struct connection *connection) {
    size_t head_length = connection->route.head_length;
    connection->pump =
        pump_start(&(pump_config){.loop = connection->gateway->config.loop,
                                  .mode = PUMP_BOTH_ENDED,
                                  .client_fd = connection->fd,
                                  .target_fd = connection->target_fd,
                                  .target_half_closes = is_relayed(&connection->route),
                                  .to_target = connection->head + head_length,
                                  .to_target_length = connection->used - head_length,
                                  .to_client = established,
                                  .to_client_length = sizeof established - 1,
                                  .heard = gateway_connection_heard,
                                  .done = on_pump_done,
                                  .user = connection});
}

static void pump(struct connection *connection, void (*start)(struct connection *)) {
    start(connection);
    gateway_connection_stop_head(connection);
    if (connection->pump)
        connection->stage = STAGE_PUMP;
    else
        gateway_connection_release(connection);
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
    gateway_connection_refuse(connection, 503, "the engine has no memory left");
}

/* Gives the other end of a socket pair to the target. 0, or -1. */
static int hand_over(struct connection *connection, struct sandbox *sandbox, int fd) {
    const struct route *route = &connection->route;
    if (sandbox)
        return sandbox_connect(sandbox, fd, route->port, route->tunnel);
    return http_server_add(connection->gateway->control, fd, gateway_connection_tag(connection));
}

static bool may_tunnel(const struct connection *connection) {
    const struct route *route = &connection->route;
    return connection->transport == TRANSPORT_UNIX ||
           api_key_is(connection->gateway->config.api_key, route->api_key, route->api_key_length);
}

void gateway_connection_pass(struct connection *connection) {
    const struct route *route = &connection->route;
    struct sandbox *sandbox = route->to_sandbox ? sandbox_of(connection) : NULL;
    int ends[2];
    if (route->tunnel && !may_tunnel(connection)) {
        gateway_connection_refuse(connection, 401, api_key_complaint(route->api_key));
        return;
    }
    if (route->to_sandbox && !sandbox) {
        refuse_port(connection, false);
        return;
    }
    if (sandbox && refuse_traffic(connection, sandbox_record_of(sandbox)))
        return;
    if (sandbox && !sandbox_is_running(sandbox)) {
        gateway_connection_wake(connection, sandbox);
        return;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0) {
        gateway_connection_refuse(connection, 503, "the engine has no descriptors left");
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
