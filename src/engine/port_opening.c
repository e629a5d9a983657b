#include "port_opening.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "control_socket.h"

/* Longer than the agent gives a server in the sandbox. */
#define MAX_SECONDS 15.0

struct port_opening {
    struct ev_loop *loop;
    ev_io readable;
    ev_timer deadline;
    port_opening_done *done;
    void *user;
};

void port_opening_cancel(struct port_opening *opening) {
    ev_io_stop(opening->loop, &opening->readable);
    ev_timer_stop(opening->loop, &opening->deadline);
    free(opening);
}

static void finish(struct port_opening *opening, bool accepted) {
    port_opening_done *done = opening->done;
    void *user = opening->user;
    port_opening_cancel(opening);
    done(accepted, user);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    char word;
    ssize_t got = recv(io->fd, &word, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    finish(io->data, got == 1 && word == CONTROL_ACCEPTED);
}

static void on_deadline(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    finish(timer->data, false);
}

struct port_opening *port_opening_start(struct ev_loop *loop, int fd, port_opening_done *done,
                                        void *user) {
    struct port_opening *opening = malloc(sizeof *opening);
    if (!opening)
        return NULL;
    *opening = (struct port_opening){.loop = loop, .done = done, .user = user};
    ev_io_init(&opening->readable, on_readable, fd, EV_READ);
    ev_timer_init(&opening->deadline, on_deadline, MAX_SECONDS, 0.0);
    opening->readable.data = opening->deadline.data = opening;
    ev_io_start(loop, &opening->readable);
    ev_timer_start(loop, &opening->deadline);
    return opening;
}
