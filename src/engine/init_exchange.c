#include "init_exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct init_exchange {
    struct ev_loop *loop;
    int fd;
    char *request;
    size_t sent, length;
    char answer[64]; /* the status line is enough */
    size_t received;
    ev_io writable, readable;
    init_exchange_done *done;
    void *user;
};

void init_exchange_cancel(struct init_exchange *exchange) {
    ev_io_stop(exchange->loop, &exchange->writable);
    ev_io_stop(exchange->loop, &exchange->readable);
    close(exchange->fd);
    free(exchange->request);
    free(exchange);
}

static void finish(struct init_exchange *exchange, int status) {
    init_exchange_done *done = exchange->done;
    void *user = exchange->user;
    init_exchange_cancel(exchange);
    done(status, user);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct init_exchange *exchange = io->data;
    ssize_t sent = send(exchange->fd, exchange->request + exchange->sent,
                        exchange->length - exchange->sent, MSG_NOSIGNAL);
    if (sent >= 0)
        exchange->sent += (size_t)sent;
    else if (errno != EAGAIN && errno != EINTR)
        exchange->sent =
            exchange->length; /* the reading side finds out what happened, or has an answer */
    if (exchange->sent == exchange->length)
        ev_io_stop(loop, io);
}

/* The status in an answer's first line, -1 when it is not HTTP. */
static int status_of(const char *answer) {
    static const char begin[] = "HTTP/1.";
    const char *at = answer + sizeof begin - 1;
    if (strncmp(answer, begin, sizeof begin - 1) != 0 || (*at != '0' && *at != '1') ||
        at[1] != ' ' || strspn(at + 2, "0123456789") != 3)
        return -1;
    int status = (int)strtol(at + 2, NULL, 10);
    return status >= 100 ? status : -1;
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    struct init_exchange *exchange = io->data;
    size_t room = sizeof exchange->answer - 1 - exchange->received;
    ssize_t got = recv(exchange->fd, exchange->answer + exchange->received, room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        finish(exchange, -1);
        return;
    }
    exchange->received += (size_t)got;
    exchange->answer[exchange->received] = '\0';
    if (!strchr(exchange->answer, '\n') && exchange->received < sizeof exchange->answer - 1)
        return;
    finish(exchange, status_of(exchange->answer));
}

struct init_exchange *init_exchange_start(struct ev_loop *loop, int fd, const char *body,
                                          size_t length, init_exchange_done *done, void *user) {
    static const char head[] =
        "POST /init HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Connection: close\r\nContent-Length: %zu\r\n\r\n";
    struct init_exchange *exchange = calloc(1, sizeof *exchange);
    char *request = exchange ? malloc(sizeof head + 32 + length) : NULL;
    if (!request) {
        free(exchange);
        close(fd);
        return NULL;
    }
    int head_length = sprintf(request, head, length);
    memcpy(request + head_length, body, length);
    exchange->loop = loop;
    exchange->fd = fd;
    exchange->request = request;
    exchange->length = (size_t)head_length + length;
    exchange->done = done;
    exchange->user = user;
    ev_io_init(&exchange->writable, on_writable, fd, EV_WRITE);
    ev_io_init(&exchange->readable, on_readable, fd, EV_READ);
    exchange->writable.data = exchange->readable.data = exchange;
    ev_io_start(loop, &exchange->writable);
    ev_io_start(loop, &exchange->readable);
    return exchange;
}
