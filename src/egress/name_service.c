#include "name_service.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dns_message.h"
#include "name_pool.h"
#include "outside.h"
#include "policy.h"
#include "resolvers.h"
#include "tunnel.h"

#define MESSAGE_MAX 4096
#define MAX_PENDING 512
/* Seconds until the next resolver is asked, and until a query is given up. */
#define ASK_NEXT 2.0
#define GIVE_UP 10.0
#define TCP_IDLE 30

/* A query that waits for its answer from outside. Each has a socket of its own: an answer has to
 * guess port and id. */
struct pending {
    struct sockaddr_in client;
    uint16_t client_id;
    size_t asked; /* how many resolvers */
    int fd;
    ev_io readable;
    ev_timer next, end;
    size_t length;
    uint8_t query[MESSAGE_MAX];
};

static struct ev_loop *service_loop;
static ev_io udp_readable, tcp_readable;
static unsigned pending_count;

/* Answers from what we know ourselves: the length, or 0 when the host's resolvers have to. */
static size_t answer_here(const struct policy *policy, const uint8_t *query,
                          const struct dns_question *question, uint8_t *out) {
    bool listed = policy->names == NAMES_LISTED && policy_lists(policy, question->name);
    bool all = policy->names == NAMES_ALL;
    if (all && !policy->proxy_host)
        return 0;
    if (!listed && !all)
        return dns_write_answer(query, question, DNS_NAME_ERROR, NULL, out);
    uint8_t address[4];
    bool given = question->type == DNS_TYPE_A && name_pool_give(question->name, address);
    return dns_write_answer(query, question, 0, given ? address : NULL, out);
}

static void finish(struct pending *pending) {
    ev_io_stop(service_loop, &pending->readable);
    ev_timer_stop(service_loop, &pending->next);
    ev_timer_stop(service_loop, &pending->end);
    if (pending->fd >= 0)
        close(pending->fd);
    free(pending);
    pending_count--;
}

static void on_answer(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    struct pending *pending = io->data;
    uint8_t answer[MESSAGE_MAX];
    ssize_t got = recv(pending->fd, answer, sizeof answer, MSG_DONTWAIT);
    if (got < DNS_HEADER || dns_id(answer) != dns_id(pending->query) ||
        !dns_answers(answer, (size_t)got, pending->query, pending->length))
        return; /* refused, or not ours: the timers go on */
    dns_set_id(answer, pending->client_id);
    sendto(udp_readable.fd, answer, (size_t)got, MSG_DONTWAIT, (struct sockaddr *)&pending->client,
           sizeof pending->client);
    finish(pending);
}

/* Asks the next of the host's resolvers. False when there is none, or it cannot be asked. */
static bool ask(struct pending *pending) {
    union resolver list[RESOLVERS_MAX];
    size_t count = resolvers_read(list);
    if (pending->asked >= count)
        return false;
    union resolver *to = &list[pending->asked++];
    if (pending->fd >= 0) {
        ev_io_stop(service_loop, &pending->readable);
        close(pending->fd);
    }
    pending->fd = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (pending->fd < 0)
        return false;
    ev_io_set(&pending->readable, pending->fd, EV_READ);
    ev_io_start(service_loop, &pending->readable);
    socklen_t length = to->any.sa_family == AF_INET ? sizeof to->v4 : sizeof to->v6;
    return connect(pending->fd, &to->any, length) == 0 &&
           send(pending->fd, pending->query, pending->length, MSG_DONTWAIT) >= 0;
}

static void on_next(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct pending *pending = timer->data;
    if (!ask(pending))
        ev_timer_stop(loop, timer);
}

static void on_end(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    finish(timer->data);
}

static void ask_outside(const uint8_t *query, size_t length, const struct sockaddr_in *client) {
    struct pending *pending = pending_count < MAX_PENDING ? malloc(sizeof *pending) : NULL;
    uint16_t id;
    if (!pending || getrandom(&id, sizeof id, 0) != sizeof id) {
        free(pending);
        return; /* the client asks again */
    }
    *pending =
        (struct pending){.client = *client, .client_id = dns_id(query), .fd = -1, .length = length};
    memcpy(pending->query, query, length);
    dns_set_id(pending->query, id);
    ev_io_init(&pending->readable, on_answer, -1, EV_READ);
    ev_timer_init(&pending->next, on_next, ASK_NEXT, ASK_NEXT);
    ev_timer_init(&pending->end, on_end, GIVE_UP, 0.0);
    pending->readable.data = pending->next.data = pending->end.data = pending;
    pending_count++;
    ev_timer_start(service_loop, &pending->end);
    if (ask(pending))
        ev_timer_start(service_loop, &pending->next);
    else
        ev_feed_event(service_loop, &pending->next, EV_TIMER);
}

static void on_udp(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    for (int i = 0; i < 64; i++) {
        uint8_t query[MESSAGE_MAX], answer[MESSAGE_MAX];
        struct sockaddr_in client;
        socklen_t client_length = sizeof client;
        ssize_t got =
            recvfrom(io->fd, query, sizeof query, 0, (struct sockaddr *)&client, &client_length);
        if (got < 0)
            return;
        struct dns_question question;
        if (!dns_read_query(query, (size_t)got, &question))
            continue;
        struct policy *policy = policy_get();
        size_t length = answer_here(policy, query, &question, answer);
        policy_release(policy);
        if (length > 0)
            sendto(io->fd, answer, length, MSG_DONTWAIT, (struct sockaddr *)&client, client_length);
        else
            ask_outside(query, (size_t)got, &client);
    }
}

static bool transfer(int fd, uint8_t *bytes, size_t length, bool sending) {
    while (length > 0) {
        ssize_t moved =
            sending ? send(fd, bytes, length, MSG_NOSIGNAL) : recv(fd, bytes, length, MSG_WAITALL);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return false;
        bytes += moved;
        length -= (size_t)moved;
    }
    return true;
}

/* A message with its length in two bytes before it. 0 at the end. */
static size_t receive_message(int fd, uint8_t message[MESSAGE_MAX]) {
    uint8_t head[2];
    if (!transfer(fd, head, 2, false))
        return 0;
    size_t length = (size_t)head[0] << 8 | head[1];
    return length <= MESSAGE_MAX && transfer(fd, message, length, false) ? length : 0;
}

static bool send_message(int fd, uint8_t *message, size_t length) {
    uint8_t head[2] = {(uint8_t)(length >> 8), (uint8_t)length};
    return transfer(fd, head, 2, true) && transfer(fd, message, length, true);
}

/* One query over TCP, in the client's own words. The connection to the resolver is the rest of this
 * connection's, too. */
static int ask_over_tcp(uint8_t *query, size_t length) {
    union resolver list[RESOLVERS_MAX];
    size_t count = resolvers_read(list);
    for (size_t i = 0; i < count; i++) {
        socklen_t address_length =
            list[i].any.sa_family == AF_INET ? sizeof list[i].v4 : sizeof list[i].v6;
        int fd = outside_connect_address(&list[i].any, address_length);
        if (fd >= 0 && send_message(fd, query, length))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

/* In a thread: a client that asks over TCP. */
static void serve_tcp(int client_fd) {
    struct timeval idle = {.tv_sec = TCP_IDLE};
    setsockopt(client_fd, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof idle);
    setsockopt(client_fd, SOL_SOCKET, SO_SNDTIMEO, &idle, sizeof idle);
    for (;;) {
        uint8_t query[MESSAGE_MAX], answer[MESSAGE_MAX];
        struct dns_question question;
        size_t got = receive_message(client_fd, query);
        if (got == 0 || !dns_read_query(query, got, &question))
            return;
        struct policy *policy = policy_get();
        size_t length = answer_here(policy, query, &question, answer);
        policy_release(policy);
        if (length == 0) {
            int fd = ask_over_tcp(query, got);
            if (fd < 0)
                return;
            tunnel_relay(client_fd, fd);
            close(fd);
            return;
        }
        if (!send_message(client_fd, answer, length))
            return;
    }
}

static void on_tcp(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    int fd;
    while ((fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        tunnel_start(fd, serve_tcp);
}

void name_service_start(struct ev_loop *loop, int udp_fd, int tcp_fd) {
    service_loop = loop;
    ev_io_init(&udp_readable, on_udp, udp_fd, EV_READ);
    ev_io_init(&tcp_readable, on_tcp, tcp_fd, EV_READ);
    ev_io_start(loop, &udp_readable);
    ev_io_start(loop, &tcp_readable);
}
