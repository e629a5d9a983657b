#include "farewell.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_SECONDS 2.0

struct farewell {
    struct ev_loop *loop;
    int fd;
    size_t sent, length;
    bool ended; /* the client has sent everything; it may still wait for our bytes */
    ev_io writable, readable;
    ev_timer deadline;
    void (*done)(void *user);
    void *user;
    char bytes[];
};

void farewell_stop(struct farewell *farewell) {
    ev_io_stop(farewell->loop, &farewell->writable);
    ev_io_stop(farewell->loop, &farewell->readable);
    ev_timer_stop(farewell->loop, &farewell->deadline);
    close(farewell->fd);
    free(farewell);
}

static void finish(struct farewell *farewell) {
    void (*done)(void *user) = farewell->done;
    void *user = farewell->user;
    farewell_stop(farewell);
    done(user);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct farewell *farewell = io->data;
    ssize_t sent = send(farewell->fd, farewell->bytes + farewell->sent,
                        farewell->length - farewell->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        finish(farewell);
        return;
    }
    farewell->sent += sent > 0 ? (size_t)sent : 0;
    if (farewell->sent < farewell->length)
        return;
    ev_io_stop(loop, io);
    shutdown(farewell->fd, SHUT_WR);
    if (farewell->ended)
        finish(farewell);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct farewell *farewell = io->data;
    char unwanted[4096];
    ssize_t got = recv(farewell->fd, unwanted, sizeof unwanted, MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    ev_io_stop(loop, io);
    farewell->ended = true;
    if (got < 0 || !ev_is_active(&farewell->writable))
        finish(farewell);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    finish(timer->data);
}

struct farewell *farewell_start(struct ev_loop *loop, int fd, const char *bytes, size_t length,
                                void (*done)(void *user), void *user) {
    struct farewell *farewell = malloc(sizeof *farewell + length);
    if (!farewell) {
        close(fd);
        return NULL;
    }
    *farewell =
        (struct farewell){.loop = loop, .fd = fd, .length = length, .done = done, .user = user};
    if (length)
        memcpy(farewell->bytes, bytes, length);
    ev_io_init(&farewell->writable, on_writable, fd, EV_WRITE);
    ev_io_init(&farewell->readable, on_readable, fd, EV_READ);
    ev_timer_init(&farewell->deadline, on_deadline, MAX_SECONDS, 0.0);
    farewell->writable.data = farewell->readable.data = farewell->deadline.data = farewell;
    ev_io_start(loop, &farewell->writable);
    ev_io_start(loop, &farewell->readable);
    ev_timer_start(loop, &farewell->deadline);
    return farewell;
}
