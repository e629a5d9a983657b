#include "port_relay.h"

#include "control_socket.h"
#include "log.h"
#include "pump.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct relay {
    struct port_relays *relays;
    struct relay *next, **link; /* *link is this relay */
    uint16_t port;
    bool announce;
    int client_fd, server_fd; /* while connecting; then the pump's */
    int family;               /* that is tried */
    ev_io connected;
    ev_timer deadline;
    struct pump *pump; /* NULL while connecting */
};

struct port_relays {
    struct ev_loop *loop;
    struct relay *first;
    size_t count;
};

port_relays *port_relays_new(struct ev_loop *loop) {
    port_relays *relays = calloc(1, sizeof *relays);
    if (relays)
        relays->loop = loop;
    return relays;
}

static void unlink_relay(struct relay *relay) {
    *relay->link = relay->next;
    if (relay->next)
        relay->next->link = relay->link;
    relay->relays->count--;
    free(relay);
}

static void stop_connecting(struct relay *relay) {
    ev_io_stop(relay->relays->loop, &relay->connected);
    ev_timer_stop(relay->relays->loop, &relay->deadline);
}

/* Ends a relay that has no pump. Whoever waits at the other end sees that nothing came. */
static void give_up(struct relay *relay) {
    stop_connecting(relay);
    if (relay->server_fd >= 0)
        close(relay->server_fd);
    close(relay->client_fd);
    unlink_relay(relay);
}

static void on_pump_done(int client_fd, bool silent, void *user) {
    (void)silent;
    if (client_fd >= 0)
        close(client_fd);
    unlink_relay(user);
}

static void start_pump(struct relay *relay) {
    static const char accepted = CONTROL_ACCEPTED;
    int on = 1;
    stop_connecting(relay);
    setsockopt(relay->server_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    relay->pump = pump_start(&(pump_config){.loop = relay->relays->loop,
                                            .mode = PUMP_BOTH_ENDED,
                                            .client_fd = relay->client_fd,
                                            .target_fd = relay->server_fd,
                                            .to_target = "",
                                            .to_client = &accepted,
                                            .to_client_length = relay->announce,
                                            .done = on_pump_done,
                                            .user = relay});
    if (!relay->pump)
        unlink_relay(relay);
}

static socklen_t loopback(struct sockaddr_storage *address, int family, uint16_t port) {
    *address = (struct sockaddr_storage){0};
    if (family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)address;
        *in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
        in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
    *in6 = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
    return sizeof *in6;
}

/* The kernel may give a connection the very port that it asks for, as its own: without a server it
 * is then connected to itself. */
static bool is_own_echo(int fd) {
    struct sockaddr_storage own = {0}, peer = {0};
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    return getsockname(fd, (struct sockaddr *)&own, &own_length) == 0 &&
           getpeername(fd, (struct sockaddr *)&peer, &peer_length) == 0 &&
           own_length == peer_length && memcmp(&own, &peer, own_length) == 0;
}

/* Begins to connect over the family; 0, or -1 with errno. */
static int try_family(struct relay *relay, int family) {
    struct sockaddr_storage address;
    socklen_t length = loopback(&address, family, relay->port);
    relay->family = family;
    relay->server_fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (relay->server_fd < 0)
        return -1;
    int failed, failure;
    do
        failed = connect(relay->server_fd, (struct sockaddr *)&address, length);
    while (failed && errno == EINTR);
    failure = errno;
    if (failed && failure != EINPROGRESS) {
        close(relay->server_fd);
        relay->server_fd = -1;
        errno = failure;
        return -1;
    }
    ev_io_set(&relay->connected, relay->server_fd, EV_WRITE);
    ev_io_start(relay->relays->loop, &relay->connected);
    ev_timer_again(relay->relays->loop, &relay->deadline);
    return 0;
}

/* Connects over IPv6 where IPv4 was refused, or gives up. */
static void refused(struct relay *relay, int failure) {
    stop_connecting(relay);
    if (relay->server_fd >= 0)
        close(relay->server_fd);
    relay->server_fd = -1;
    if (relay->family == AF_INET6 || failure != ECONNREFUSED || try_family(relay, AF_INET6) < 0)
        give_up(relay);
}

static void on_connected(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    struct relay *relay = io->data;
    int failure = 0;
    socklen_t length = sizeof failure;
    if (getsockopt(relay->server_fd, SOL_SOCKET, SO_ERROR, &failure, &length) < 0)
        failure = errno;
    if (!failure && is_own_echo(relay->server_fd))
        failure = ECONNREFUSED;
    if (failure)
        refused(relay, failure);
    else
        start_pump(relay);
}

static void on_deadline(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    give_up(timer->data);
}

void port_relays_add(port_relays *relays, int fd, uint16_t port, bool announce) {
    struct relay *relay = relays->count < PORT_RELAY_MAX ? calloc(1, sizeof *relay) : NULL;
    if (!relay) {
        log_warn("a connection to port %d was closed: there are %zu already", port, relays->count);
        close(fd);
        return;
    }
    relay->relays = relays;
    relay->port = port;
    relay->announce = announce;
    relay->client_fd = fd;
    relay->server_fd = -1;
    relay->next = relays->first;
    relay->link = &relays->first;
    if (relay->next)
        relay->next->link = &relay->next;
    relays->first = relay;
    relays->count++;
    ev_io_init(&relay->connected, on_connected, -1, EV_WRITE);
    ev_timer_init(&relay->deadline, on_deadline, 0.0, PORT_RELAY_CONNECT);
    relay->connected.data = relay->deadline.data = relay;
    if (try_family(relay, AF_INET) < 0)
        refused(relay, errno);
}

size_t port_relays_count(const port_relays *relays) {
    return relays->count;
}

void port_relays_free(port_relays *relays) {
    while (relays && relays->first) {
        struct relay *relay = relays->first;
        if (!relay->pump) {
            give_up(relay);
            continue;
        }
        pump_stop(relay->pump);
        unlink_relay(relay);
    }
    free(relays);
}
