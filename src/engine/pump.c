#include "pump.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_SIZE (64 * 1024)
/* Seconds without a byte from the target after which a client that will send nothing more is taken
 * for gone. */
#define HALF_CLOSED_IDLE 60.0

/* One direction. */
struct flow {
    struct pump *pump;
    int from, to;
    ev_io readable, writable;
    char *waiting; /* bytes that `to` had no room for: [start, end); NULL when there are none */
    size_t start, end;
    bool ended;   /* `from` has sent everything, and the end was passed on or will be behind what
                     waits */
    bool dropped; /* `to` takes nothing any more: read and forget */
};

struct pump {
    struct ev_loop *loop;
    struct flow up, down; /* client to target, target to client */
    bool limited;
    struct request_end limit;
    bool silent; /* nothing has come from the target yet */
    ev_timer half_closed;
    pump_done *done;
    void *user;
};

static void stop_flow(struct pump *pump, struct flow *flow) {
    ev_io_stop(pump->loop, &flow->readable);
    ev_io_stop(pump->loop, &flow->writable);
    free(flow->waiting);
}

static void release(struct pump *pump, bool keep_client) {
    stop_flow(pump, &pump->up);
    stop_flow(pump, &pump->down);
    ev_timer_stop(pump->loop, &pump->half_closed);
    if (!keep_client)
        close(pump->up.from);
    close(pump->up.to);
    free(pump);
}

void pump_stop(struct pump *pump) {
    release(pump, false);
}

static void finish(struct pump *pump, bool client_is_there) {
    pump_done *done = pump->done;
    void *user = pump->user;
    bool silent = pump->silent;
    int client_fd = client_is_there ? pump->up.from : -1;
    release(pump, client_is_there);
    done(client_fd, silent, user);
}

/* Sends what `to` takes. Returns how many bytes, or -1 when it takes nothing any more. */
static ssize_t send_some(int to, const char *bytes, size_t length) {
    size_t sent = 0;
    while (sent < length) {
        ssize_t n = send(to, bytes + sent, length - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            sent += (size_t)n;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            return -1;
    }
    return (ssize_t)sent;
}

/* `to` has closed its reading side. The target may still have an answer on its way; a client that
 * is gone ends all. Returns false when the pump has ended. */
static bool refused(struct flow *flow) {
    struct pump *pump = flow->pump;
    if (flow == &pump->down) {
        finish(pump, false);
        return false;
    }
    flow->dropped = true;
    ev_io_stop(pump->loop, &flow->writable);
    free(flow->waiting);
    flow->waiting = NULL;
    if (!flow->ended)
        ev_io_start(pump->loop, &flow->readable);
    return true;
}

/* Whether the client closed its connection, rather than only its sending half. Only unix sockets
 * tell. */
static bool is_hung_up(int fd) {
    struct pollfd state = {.fd = fd, .events = POLLRDHUP};
    return poll(&state, 1, 0) == 1 && (state.revents & (POLLHUP | POLLERR));
}

/* Everything `from` sent has been delivered. Returns false when the pump has ended. */
static bool delivered(struct flow *flow) {
    struct pump *pump = flow->pump;
    if (flow == &pump->down) {
        finish(pump, true);
        return false;
    }
    shutdown(flow->to, SHUT_WR);
    if (is_hung_up(flow->from)) {
        finish(pump, false);
        return false;
    }
    ev_timer_start(pump->loop, &pump->half_closed);
    return true;
}

/* Passes bytes on; keeps what has to wait. Returns false when the pump has ended. */
static bool pass(struct flow *flow, const char *bytes, size_t length) {
    if (flow->dropped || length == 0)
        return true;
    ssize_t sent = send_some(flow->to, bytes, length);
    if (sent < 0)
        return refused(flow);
    size_t rest = length - (size_t)sent;
    if (rest == 0)
        return true;
    flow->waiting = malloc(rest);
    if (!flow->waiting) {
        finish(flow->pump, false); /* a hole in the stream would be worse */
        return false;
    }
    memcpy(flow->waiting, bytes + sent, rest);
    flow->start = 0;
    flow->end = rest;
    ev_io_stop(flow->pump->loop, &flow->readable);
    ev_io_start(flow->pump->loop, &flow->writable);
    return true;
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    static char buffer[BUFFER_SIZE]; /* of all pumps: it is empty again when this returns */
    struct flow *flow = io->data;
    struct pump *pump = flow->pump;
    ssize_t got = recv(flow->from, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got < 0 && flow == &pump->up) {
        finish(pump, false);
        return;
    }
    if (got <= 0) { /* a target that ended with unread bytes gives an error here, behind all that it
                       sent */
        flow->ended = true;
        ev_io_stop(loop, io);
        if (!flow->waiting)
            delivered(flow);
        return;
    }
    size_t length = (size_t)got;
    if (flow == &pump->down) {
        pump->silent = false;
        if (ev_is_active(&pump->half_closed))
            ev_timer_again(loop, &pump->half_closed);
    } else if (pump->limited) {
        length = request_end_feed(&pump->limit, buffer, length);
    }
    pass(flow, buffer, length);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct flow *flow = io->data;
    ssize_t sent = send_some(flow->to, flow->waiting + flow->start, flow->end - flow->start);
    if (sent < 0) {
        refused(flow);
        return;
    }
    flow->start += (size_t)sent;
    if (flow->start < flow->end)
        return;
    free(flow->waiting);
    flow->waiting = NULL;
    ev_io_stop(loop, io);
    if (flow->ended)
        delivered(flow);
    else
        ev_io_start(loop, &flow->readable);
}

static void on_half_closed_idle(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    finish(timer->data, false);
}

static void init_flow(struct pump *pump, struct flow *flow, int from, int to) {
    flow->pump = pump;
    flow->from = from;
    flow->to = to;
    ev_io_init(&flow->readable, on_readable, from, EV_READ);
    ev_io_init(&flow->writable, on_writable, to, EV_WRITE);
    flow->readable.data = flow->writable.data = flow;
    ev_io_start(pump->loop, &flow->readable);
}

/* The bytes that came with the head go first, in the loop's next turn: `done` must not be called
 * from pump_start(). */
static int keep_first(struct pump *pump, const pump_config *config) {
    size_t length = config->first_length;
    if (pump->limited)
        length = config->head_length + request_end_feed(&pump->limit,
                                                        config->first + config->head_length,
                                                        config->first_length - config->head_length);
    if (length == 0)
        return 0;
    struct flow *up = &pump->up;
    up->waiting = malloc(length);
    if (!up->waiting)
        return -1;
    memcpy(up->waiting, config->first, length);
    up->end = length;
    ev_io_stop(pump->loop, &up->readable);
    ev_io_start(pump->loop, &up->writable);
    return 0;
}

struct pump *pump_start(const pump_config *config) {
    struct pump *pump = calloc(1, sizeof *pump);
    if (!pump) {
        close(config->client_fd);
        close(config->target_fd);
        return NULL;
    }
    pump->loop = config->loop;
    pump->done = config->done;
    pump->user = config->user;
    pump->silent = true;
    pump->limited = config->limit != NULL;
    if (config->limit)
        pump->limit = *config->limit;
    init_flow(pump, &pump->up, config->client_fd, config->target_fd);
    init_flow(pump, &pump->down, config->target_fd, config->client_fd);
    ev_timer_init(&pump->half_closed, on_half_closed_idle, HALF_CLOSED_IDLE, HALF_CLOSED_IDLE);
    pump->half_closed.data = pump;
    if (keep_first(pump, config) < 0) {
        release(pump, false);
        return NULL;
    }
    return pump;
}
