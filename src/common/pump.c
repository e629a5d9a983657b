#include "pump.h"

#include "stream_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_SIZE (64 * 1024)
/* Seconds without a byte from the target after which a client that will send nothing more is taken
 * for gone, where only an answer is waited for. */
#define ANSWER_IDLE 60.0
/* Seconds between looks whether a side that has ended its stream is gone altogether. */
#define GONE_CHECK 5.0

/* One direction. */
struct flow {
    struct pump *pump;
    int from, to;
    ev_io readable, writable;
    char *waiting; /* bytes that `to` had no room for: [start, end); NULL when there are none */
    size_t start, end;
    bool ended;     /* `from` has sent everything */
    bool delivered; /* and so it was told to `to` */
    bool dropped;   /* `to` takes nothing any more: read and forget */
};

struct pump {
    struct ev_loop *loop;
    enum pump_mode mode;
    bool target_half_closes;
    struct flow up, down; /* client to target, target to client */
    const pump_gate *gate;
    void *gate_user;
    char *held; /* what the gate holds back, held_length bytes; the client is not read meanwhile */
    size_t held_length;
    bool silent; /* nothing has come from the target yet */
    ev_timer half_closed;
    void (*heard)(void *user);
    pump_done *done;
    void *user;
};

/* What happens to the connections. */
enum ending {
    GIVE_CLIENT_BACK, /* the target's is closed */
    CLOSE_BOTH,
    BREAK_TARGET, /* the client's is closed */
    BREAK_CLIENT  /* the target's is closed */
};

static void stop_flow(struct pump *pump, struct flow *flow) {
    ev_io_stop(pump->loop, &flow->readable);
    ev_io_stop(pump->loop, &flow->writable);
    free(flow->waiting);
}

static void release(struct pump *pump, enum ending ending) {
    int client = pump->up.from, target = pump->up.to;
    stop_flow(pump, &pump->up);
    stop_flow(pump, &pump->down);
    ev_timer_stop(pump->loop, &pump->half_closed);
    free(pump->held);
    free(pump);
    if (ending == BREAK_CLIENT)
        stream_socket_reset(client);
    else if (ending != GIVE_CLIENT_BACK)
        close(client);
    if (ending == BREAK_TARGET)
        stream_socket_reset(target);
    else
        close(target);
}

void pump_stop(struct pump *pump) {
    release(pump, pump->mode == PUMP_BOTH_ENDED ? BREAK_CLIENT : CLOSE_BOTH);
}

static void finish(struct pump *pump, enum ending ending) {
    pump_done *done = pump->done;
    void *user = pump->user;
    bool silent = pump->silent;
    int client_fd = ending == GIVE_CLIENT_BACK ? pump->up.from : -1;
    release(pump, ending);
    done(client_fd, silent, user);
}

/* The client takes or sends nothing any more. */
static void client_is_gone(struct pump *pump) {
    finish(pump, pump->mode == PUMP_BOTH_ENDED ? BREAK_TARGET : CLOSE_BOTH);
}

/* Reads on, unless something has to go first. */
static void resume(struct flow *flow) {
    struct pump *pump = flow->pump;
    if (!flow->ended && !flow->waiting && !(flow == &pump->up && pump->held))
        ev_io_start(pump->loop, &flow->readable);
}

/* `to` has closed its reading side. The target may still have an answer on its way; a client that
 * is gone ends all. Returns false when the pump has ended. */
static bool refused(struct flow *flow) {
    struct pump *pump = flow->pump;
    if (flow == &pump->down) {
        client_is_gone(pump);
        return false;
    }
    if (pump->down.delivered) {
        finish(pump, CLOSE_BOTH);
        return false;
    }
    flow->dropped = true;
    ev_io_stop(pump->loop, &flow->writable);
    free(flow->waiting);
    flow->waiting = NULL;
    free(pump->held);
    pump->held = NULL;
    resume(flow);
    return true;
}

/* Everything the target sent has been delivered. Returns false when the pump has ended. */
static bool answer_delivered(struct pump *pump) {
    if (pump->mode == PUMP_ANSWERED) {
        finish(pump, GIVE_CLIENT_BACK);
        return false;
    }
    if (pump->target_half_closes && !pump->up.delivered &&
        stream_socket_is_hung_up(pump->down.from)) {
        finish(pump, BREAK_CLIENT);
        return false;
    }
    if (pump->up.delivered || pump->up.dropped) {
        finish(pump, CLOSE_BOTH);
        return false;
    }
    shutdown(pump->down.to, SHUT_WR);
    return true;
}

/* Everything the client sent has been delivered. Returns false when the pump has ended. */
static bool request_delivered(struct pump *pump) {
    shutdown(pump->up.to, SHUT_WR);
    /* Closed altogether, rather than only its sending half? */
    if (pump->down.delivered || stream_socket_is_hung_up(pump->up.from)) {
        finish(pump, CLOSE_BOTH);
        return false;
    }
    return true;
}

static bool delivered(struct flow *flow) {
    struct pump *pump = flow->pump;
    bool goes_on = flow == &pump->down ? answer_delivered(pump) : request_delivered(pump);
    if (goes_on) {
        flow->delivered = true;
        ev_timer_again(pump->loop, &pump->half_closed);
    }
    return goes_on;
}

/* Passes bytes on; keeps what has to wait (nothing does yet). Returns false when the pump has
 * ended. */
static bool pass(struct flow *flow, const char *bytes, size_t length) {
    if (flow->dropped || length == 0)
        return true;
    ssize_t sent = stream_socket_send(flow->to, bytes, length);
    if (sent < 0)
        return refused(flow);
    size_t rest = length - (size_t)sent;
    if (rest == 0)
        return true;
    flow->waiting = malloc(rest);
    if (!flow->waiting) {
        finish(flow->pump, CLOSE_BOTH); /* a hole in the stream would be worse */
        return false;
    }
    memcpy(flow->waiting, bytes + sent, rest);
    flow->start = 0;
    flow->end = rest;
    ev_io_stop(flow->pump->loop, &flow->readable);
    ev_io_start(flow->pump->loop, &flow->writable);
    return true;
}

/* How many bytes of the client may pass. Holds the others back if they may later; -1 when there is
 * no memory for that. */
static ssize_t admit(struct pump *pump, const char *bytes, size_t length) {
    enum pump_rest rest = PUMP_DROP;
    if (!pump->gate || pump->up.dropped)
        return (ssize_t)length;
    size_t admitted = pump->gate->admit(pump->gate_user, bytes, length, &rest);
    if (admitted < length && rest == PUMP_HOLD) {
        pump->held_length = length - admitted;
        pump->held = malloc(pump->held_length);
        if (!pump->held)
            return -1;
        memcpy(pump->held, bytes + admitted, pump->held_length);
        ev_io_stop(pump->loop, &pump->up.readable);
    }
    if (admitted < length && rest == PUMP_END) {
        pump->up.ended = true;
        ev_io_stop(pump->loop, &pump->up.readable);
    }
    return (ssize_t)admitted;
}

static void offer(struct pump *pump, const char *bytes, size_t length) {
    ssize_t admitted = admit(pump, bytes, length);
    if (admitted < 0)
        finish(pump, CLOSE_BOTH);
    else if (pass(&pump->up, bytes, (size_t)admitted) && pump->up.ended && !pump->up.waiting)
        delivered(&pump->up);
}

/* Asks the gate again about what it held back. */
static void offer_held(struct pump *pump) {
    char *held = pump->held;
    if (!held || pump->up.waiting)
        return;
    pump->held = NULL;
    ev_io_start(pump->loop, &pump->up.readable);
    offer(pump, held, pump->held_length);
    free(held);
}

static void take_from_target(struct pump *pump, const char *bytes, size_t length) {
    pump->silent = false;
    if (pump->mode == PUMP_ANSWERED && ev_is_active(&pump->half_closed))
        ev_timer_again(pump->loop, &pump->half_closed);
    bool changed = pump->gate && pump->gate->answered(pump->gate_user, bytes, length);
    if (pass(&pump->down, bytes, length) && changed)
        offer_held(pump);
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
        client_is_gone(pump);
    } else if (got < 0 && pump->mode == PUMP_BOTH_ENDED) {
        finish(pump, BREAK_CLIENT);
    } else if (got <= 0) { /* a target that ended with unread bytes gives an error here, behind all
                              that it sent */
        flow->ended = true;
        ev_io_stop(loop, io);
        if (!flow->waiting)
            delivered(flow);
    } else if (flow == &pump->down) {
        take_from_target(pump, buffer, (size_t)got);
    } else {
        if (pump->heard)
            pump->heard(pump->user);
        offer(pump, buffer, (size_t)got);
    }
}

static void on_writable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct flow *flow = io->data;
    ssize_t sent =
        stream_socket_send(flow->to, flow->waiting + flow->start, flow->end - flow->start);
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
    else if (flow == &flow->pump->up && flow->pump->held)
        offer_held(flow->pump);
    else
        resume(flow);
}

static void on_half_closed(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct pump *pump = timer->data;
    if (pump->mode == PUMP_ANSWERED ||
        (pump->up.delivered && stream_socket_is_hung_up(pump->up.from)) ||
        (pump->down.delivered && stream_socket_is_hung_up(pump->down.from)))
        finish(pump, CLOSE_BOTH);
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

/* These bytes go first, in the loop's next turn: `done` must not be called from pump_start(). */
static int keep_first(struct flow *flow, const char *bytes, size_t length) {
    if (length == 0)
        return 0;
    flow->waiting = malloc(length);
    if (!flow->waiting)
        return -1;
    memcpy(flow->waiting, bytes, length);
    flow->end = length;
    ev_io_stop(flow->pump->loop, &flow->readable);
    ev_io_start(flow->pump->loop, &flow->writable);
    return 0;
}

static int keep_all_first(struct pump *pump, const pump_config *config) {
    size_t ungated = pump->gate ? config->ungated_length : config->to_target_length;
    ssize_t admitted = admit(pump, config->to_target + ungated, config->to_target_length - ungated);
    if (admitted < 0 || keep_first(&pump->up, config->to_target, ungated + (size_t)admitted) < 0)
        return -1;
    return keep_first(&pump->down, config->to_client, config->to_client_length);
}

struct pump *pump_start(const pump_config *config) {
    struct pump *pump = calloc(1, sizeof *pump);
    if (!pump) {
        close(config->client_fd);
        close(config->target_fd);
        return NULL;
    }
    pump->loop = config->loop;
    pump->mode = config->mode;
    pump->target_half_closes = config->target_half_closes;
    pump->gate = config->gate;
    pump->gate_user = config->gate_user;
    pump->heard = config->heard;
    pump->done = config->done;
    pump->user = config->user;
    pump->silent = true;
    double idle = pump->mode == PUMP_ANSWERED ? ANSWER_IDLE : GONE_CHECK;
    ev_timer_init(&pump->half_closed, on_half_closed, idle, idle);
    pump->half_closed.data = pump;
    init_flow(pump, &pump->up, config->client_fd, config->target_fd);
    init_flow(pump, &pump->down, config->target_fd, config->client_fd);
    if (keep_all_first(pump, config) < 0) {
        release(pump, CLOSE_BOTH);
        return NULL;
    }
    return pump;
}
