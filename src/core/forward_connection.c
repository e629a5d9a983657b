#include "forward_connection.h"

#include "forward_remote.h"
#include "timestamp.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DIAL_SECONDS 10.0
#define DIAL_AGAIN_SECONDS 0.005
/* More than the engine and the agent give the port to accept. */
#define TUNNEL_SECONDS 20.0
#define ANSWER_MAX (16u * 1024)
#define FAREWELL_SECONDS 2.0
/* Between looks whether one who ended its stream is gone altogether. */
#define DESERTED_SECONDS 5.0

/* A copy of the descriptor may live on in a process that forked: so the connection itself is ended,
 * not only the descriptor closed. */
static void close_orderly(int *fd) {
    if (*fd >= 0) {
        shutdown(*fd, SHUT_RDWR);
        close(*fd);
    }
    *fd = -1;
}

/* Shows the local side a connection that broke: a reset, whoever else has a copy. */
static void break_local(struct sbi_forward_connection *connection) {
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    connect(connection->local_fd, &none, sizeof none);
    close(connection->local_fd);
    connection->local_fd = -1;
    connection->stage = SBI_FORWARD_OVER;
}

static void start_relay(struct sbi_forward_connection *connection) {
    struct sbi_relay *relay = &connection->relay;
    bool is_tunnel = connection->multi == NULL;
    relay->local_fd = connection->local_fd;
    relay->far = &connection->far;
    relay->answer_ends_all = !is_tunnel;
    relay->request_ends_all = connection->upgrade && connection->far.is_tls;
    connection->stage = SBI_FORWARD_RELAY;
    connection->due = SBI_NEVER;
}

static void run_relay(struct sbi_forward_connection *connection) {
    struct sbi_relay *relay = &connection->relay;
    bool is_due = connection->due <= sbi_now();
    if (is_due && (relay->answer_ends_all && relay->down.delivered)) {
        connection->stage = SBI_FORWARD_OVER;
        return;
    }
    switch (sbi_relay_run(relay)) {
    case SBI_RELAY_ENDED:
        connection->stage = SBI_FORWARD_OVER;
        return;
    case SBI_RELAY_BROKEN:
        if (connection->far.easy == NULL) {
            break_local(connection);
        }
        connection->stage = SBI_FORWARD_OVER;
        return;
    case SBI_RELAY_RUNS:
        break;
    }
    if (is_due && sbi_relay_is_deserted(relay)) {
        connection->stage = SBI_FORWARD_OVER;
        return;
    }
    bool is_half = relay->up.delivered || relay->down.delivered;
    if (is_half && (is_due || connection->due == SBI_NEVER)) {
        connection->due = sbi_deadline(
            relay->answer_ends_all && relay->down.delivered ? FAREWELL_SECONDS : DESERTED_SECONDS);
    } else if (!is_half) {
        connection->due = SBI_NEVER;
    }
}

static void ask_for_tunnel(struct sbi_forward_connection *connection) {
    const char *request = connection->target->request;
    size_t length = strlen(request);
    /* A new connection has room for it. */
    if (send(connection->far.fd, request, length, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)length) {
        break_local(connection);
        return;
    }
    connection->stage = SBI_FORWARD_TUNNEL;
    connection->due = sbi_deadline(TUNNEL_SECONDS);
}

static void run_dial(struct sbi_forward_connection *connection) {
    connection->far.fd = sbi_local_connect(connection->target->config);
    if (connection->far.fd >= 0) {
        ask_for_tunnel(connection);
    } else if (errno == EAGAIN && sbi_now() < connection->until) {
        connection->due = sbi_deadline(DIAL_AGAIN_SECONDS);
    } else {
        break_local(connection);
    }
}

/* What follows the engine's head is the server's already. */
static void take_tunnel(struct sbi_forward_connection *connection, size_t head_length) {
    struct sbi_buffer *head = &connection->head;
    size_t rest = head->length - head_length;
    start_relay(connection);
    if (rest > 0) {
        char *bytes = malloc(rest);
        if (bytes == NULL) {
            break_local(connection);
            return;
        }
        memcpy(bytes, head->data + head_length, rest);
        sbi_relay_prepend_down(&connection->relay, bytes, rest);
    }
    sbi_buffer_free(head);
}

static void run_tunnel(struct sbi_forward_connection *connection) {
    static const char established[] = "HTTP/1.1 200 ";
    struct sbi_buffer *head = &connection->head;
    char bytes[4096];
    ssize_t got = recv(connection->far.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR) && sbi_now() < connection->due) {
        return;
    }
    if (got <= 0 || sbi_buffer_append(head, bytes, (size_t)got) != SB_OK) {
        break_local(connection);
        return;
    }
    const char *end = memmem(head->data, head->length, "\r\n\r\n", 4);
    if (end == NULL) {
        return;
    }
    if (strncmp(head->data, established, sizeof established - 1) != 0) {
        break_local(connection); /* nobody listens on the port, or the sandbox is gone */
        return;
    }
    take_tunnel(connection, (size_t)(end - head->data) + 4);
}

/* Answers a local client in the server's place. */
static void reply(struct sbi_forward_connection *connection, const char *status,
                  const char *message) {
    char text[1024];
    int length = snprintf(text, sizeof text,
                          "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
                          "Content-Length: %zu\r\nConnection: close\r\n\r\n%s\n",
                          status, strlen(message) + 1, message);
    /* Nothing was sent before: there is room. */
    send(connection->local_fd, text, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(connection->local_fd, SHUT_WR);
    connection->stage = SBI_FORWARD_FAREWELL;
    connection->due = sbi_deadline(FAREWELL_SECONDS);
}

static void run_farewell(struct sbi_forward_connection *connection) {
    char unwanted[4096];
    ssize_t got = recv(connection->local_fd, unwanted, sizeof unwanted, MSG_DONTWAIT);
    bool waits = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    if (!waits || sbi_now() >= connection->due) {
        connection->stage = SBI_FORWARD_OVER;
    }
}

static void run_head(struct sbi_forward_connection *connection) {
    char bytes[4096];
    ssize_t got = recv(connection->local_fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        connection->stage = SBI_FORWARD_OVER;
        return;
    }
    char *request;
    size_t length;
    if (sbi_buffer_append(&connection->head, bytes, (size_t)got) != SB_OK) {
        reply(connection, "431 Request Header Fields Too Large", "the request's head is too large");
        return;
    }
    switch (sbi_forward_remote_rewrite(connection, &request, &length)) {
    case SBI_FORWARD_HEAD_MORE:
        return;
    case SBI_FORWARD_HEAD_BAD:
        reply(connection, "400 Bad Request",
              "this is not a request of HTTP/1 that can be passed on");
        return;
    case SBI_FORWARD_HEAD_DONE:
        break;
    }
    sbi_relay_prepend_up(&connection->relay, request, length);
    if (sbi_forward_remote_connect(connection) == 0) {
        connection->stage = SBI_FORWARD_CONNECT;
    } else {
        reply(connection, "502 Bad Gateway", "out of memory");
    }
}

void sbi_forward_connection_connected(struct sbi_forward_connection *connection, CURLcode result) {
    if (sbi_forward_remote_connected(connection, result) == 0) {
        start_relay(connection);
        sbi_forward_connection_run(connection);
    } else {
        reply(connection, "502 Bad Gateway", connection->complaint);
    }
}

struct sbi_forward_connection *sbi_forward_connection_new(const struct sbi_forward_target *target,
                                                          CURLM *multi, int local_fd) {
    struct sbi_forward_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        close(local_fd);
        return NULL;
    }
    connection->target = target;
    connection->multi = multi;
    connection->local_fd = local_fd;
    connection->far.fd = -1;
    connection->stage = target->config->local ? SBI_FORWARD_DIAL : SBI_FORWARD_HEAD;
    connection->due = SBI_NEVER;
    connection->until = sbi_deadline(DIAL_SECONDS);
    /* A head, and the piece of what follows that came with it. */
    sbi_buffer_init(&connection->head,
                    target->config->local ? ANSWER_MAX : SBI_FORWARD_HEAD_MAX + 4096);
    return connection;
}

void sbi_forward_connection_run(struct sbi_forward_connection *connection) {
    switch (connection->stage) {
    case SBI_FORWARD_DIAL:
        run_dial(connection);
        break;
    case SBI_FORWARD_TUNNEL:
        run_tunnel(connection);
        break;
    case SBI_FORWARD_HEAD:
        run_head(connection);
        break;
    case SBI_FORWARD_RELAY:
        run_relay(connection);
        break;
    case SBI_FORWARD_FAREWELL:
        run_farewell(connection);
        break;
    case SBI_FORWARD_CONNECT:
    case SBI_FORWARD_OVER:
        break;
    }
}

int64_t sbi_forward_connection_due(const struct sbi_forward_connection *connection) {
    return connection->relay.has_more ? 0 : connection->due;
}

short sbi_forward_connection_local_events(const struct sbi_forward_connection *connection) {
    switch (connection->stage) {
    case SBI_FORWARD_HEAD:
    case SBI_FORWARD_FAREWELL:
        return POLLIN;
    case SBI_FORWARD_RELAY:
        return sbi_relay_local_events(&connection->relay);
    default:
        return 0;
    }
}

short sbi_forward_connection_far_events(const struct sbi_forward_connection *connection) {
    switch (connection->stage) {
    case SBI_FORWARD_TUNNEL:
        return POLLIN;
    case SBI_FORWARD_RELAY:
        return sbi_relay_far_events(&connection->relay);
    default:
        return 0;
    }
}

void sbi_forward_connection_free(struct sbi_forward_connection *connection) {
    if (connection->far.easy != NULL) {
        sbi_forward_remote_close(connection);
    } else {
        close_orderly(&connection->far.fd);
    }
    close_orderly(&connection->local_fd);
    sbi_relay_free(&connection->relay);
    sbi_buffer_free(&connection->head);
    free(connection);
}
