#include "forward_relay.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#define BUFFER_SIZE (32 * 1024)
/* Buffers moved in one run, so that other connections get their turn. */
#define MAX_ROUNDS 8

static bool is_empty(const struct sbi_relay_flow *flow) {
    return flow->start == flow->end;
}

static void prepend(struct sbi_relay_flow *flow, char *bytes, size_t length) {
    free(flow->bytes);
    flow->bytes = bytes;
    flow->start = 0;
    flow->end = flow->capacity = length;
}

void sbi_relay_prepend_up(struct sbi_relay *relay, char *bytes, size_t length) {
    prepend(&relay->up, bytes, length);
}

void sbi_relay_prepend_down(struct sbi_relay *relay, char *bytes, size_t length) {
    prepend(&relay->down, bytes, length);
}

static void drop_buffer(struct sbi_relay_flow *flow) {
    free(flow->bytes);
    flow->bytes = NULL;
    flow->start = flow->end = flow->capacity = 0;
}

/* Room for the next bytes, when there are none; false without memory. */
static bool make_room(struct sbi_relay_flow *flow) {
    if (flow->capacity < BUFFER_SIZE) {
        drop_buffer(flow);
        flow->bytes = malloc(BUFFER_SIZE);
        flow->capacity = flow->bytes != NULL ? BUFFER_SIZE : 0;
    }
    return flow->bytes != NULL;
}

static bool is_hung_up(int fd) {
    struct pollfd state = {.fd = fd, .events = POLLRDHUP};
    return poll(&state, 1, 0) == 1 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

static enum sbi_far_result receive_local(struct sbi_relay *relay, size_t *moved) {
    struct sbi_relay_flow *up = &relay->up;
    ssize_t got = recv(relay->local_fd, up->bytes, BUFFER_SIZE, MSG_DONTWAIT);
    if (got > 0) {
        *moved = (size_t)got;
        return SBI_FAR_DONE;
    }
    if (got == 0) {
        return SBI_FAR_END;
    }
    return errno == EAGAIN || errno == EINTR ? SBI_FAR_AGAIN : SBI_FAR_BROKEN;
}

static enum sbi_far_result send_local(struct sbi_relay *relay, size_t *moved) {
    struct sbi_relay_flow *down = &relay->down;
    ssize_t sent = send(relay->local_fd, down->bytes + down->start, down->end - down->start,
                        MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
        *moved = (size_t)sent;
        return SBI_FAR_DONE;
    }
    return errno == EAGAIN || errno == EINTR ? SBI_FAR_AGAIN : SBI_FAR_BROKEN;
}

/* Sends what waits on its way up. false: it has to wait on. */
static bool flush_up(struct sbi_relay *relay) {
    struct sbi_relay_flow *up = &relay->up;
    while (!is_empty(up) && !up->dropped) {
        size_t moved;
        enum sbi_far_result result =
            sbi_far_send(relay->far, up->bytes + up->start, up->end - up->start, &moved);
        if (result == SBI_FAR_AGAIN) {
            return false;
        }
        if (result == SBI_FAR_BROKEN) {
            /* It may still have an answer on its way. */
            up->dropped = true;
        }
        up->start += moved;
    }
    up->start = up->end = 0;
    return true;
}

/* Moves bytes up. false: the local side has gone. */
static bool run_up(struct sbi_relay *relay) {
    struct sbi_relay_flow *up = &relay->up;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        if (!flush_up(relay) || up->delivered) {
            return true;
        }
        if (up->ended) {
            if (!up->dropped) {
                sbi_far_end(relay->far);
            }
            up->delivered = true;
            return true;
        }
        size_t moved = 0;
        enum sbi_far_result result = make_room(up) ? receive_local(relay, &moved) : SBI_FAR_BROKEN;
        if (result == SBI_FAR_BROKEN) {
            return false;
        }
        up->end = moved;
        up->ended = result == SBI_FAR_END;
        if (result == SBI_FAR_AGAIN) {
            drop_buffer(up);
            return true;
        }
    }
    relay->has_more = true;
    return true;
}

/* The far side has ended; what it sent is delivered. */
static enum sbi_relay_state end_down(struct sbi_relay *relay) {
    /* The local engine only half-closes what has ended; what it closes has broken off. */
    if (relay->far->easy == NULL && !relay->up.delivered && is_hung_up(relay->far->fd)) {
        return SBI_RELAY_BROKEN;
    }
    shutdown(relay->local_fd, SHUT_WR);
    relay->down.delivered = true;
    if (relay->answer_ends_all) {
        relay->up.dropped = true;
    }
    return SBI_RELAY_RUNS;
}

static enum sbi_relay_state run_down(struct sbi_relay *relay) {
    struct sbi_relay_flow *down = &relay->down;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        while (!is_empty(down)) {
            size_t moved = 0;
            enum sbi_far_result result = send_local(relay, &moved);
            if (result == SBI_FAR_AGAIN) {
                return SBI_RELAY_RUNS;
            }
            if (result == SBI_FAR_BROKEN) {
                return SBI_RELAY_ENDED;
            }
            down->start += moved;
        }
        if (down->delivered) {
            return SBI_RELAY_RUNS;
        }
        if (down->ended) {
            return end_down(relay);
        }
        down->start = down->end = 0;
        size_t moved = 0;
        enum sbi_far_result result =
            make_room(down) ? sbi_far_receive(relay->far, down->bytes, BUFFER_SIZE, &moved)
                            : SBI_FAR_BROKEN;
        if (result == SBI_FAR_BROKEN) {
            return SBI_RELAY_BROKEN;
        }
        down->end = moved;
        down->ended = result == SBI_FAR_END;
        if (result == SBI_FAR_AGAIN) {
            drop_buffer(down);
            return SBI_RELAY_RUNS;
        }
    }
    relay->has_more = true;
    return SBI_RELAY_RUNS;
}

enum sbi_relay_state sbi_relay_run(struct sbi_relay *relay) {
    relay->has_more = false;
    if (!run_up(relay)) {
        return SBI_RELAY_ENDED;
    }
    enum sbi_relay_state state = run_down(relay);
    if (state != SBI_RELAY_RUNS) {
        return state;
    }
    bool up_is_over = relay->up.delivered || (relay->up.dropped && !relay->answer_ends_all);
    if ((up_is_over && relay->down.delivered) || (relay->up.delivered && relay->request_ends_all)) {
        return SBI_RELAY_ENDED;
    }
    return SBI_RELAY_RUNS;
}

short sbi_relay_local_events(const struct sbi_relay *relay) {
    short events = 0;
    if (is_empty(&relay->up) && !relay->up.ended) {
        events |= POLLIN;
    }
    if (!is_empty(&relay->down)) {
        events |= POLLOUT;
    }
    return events;
}

short sbi_relay_far_events(const struct sbi_relay *relay) {
    short events = 0;
    if (is_empty(&relay->down) && !relay->down.ended) {
        events |= POLLIN;
    }
    if (!is_empty(&relay->up)) {
        events |= POLLOUT;
    }
    return events;
}

bool sbi_relay_is_deserted(const struct sbi_relay *relay) {
    return (relay->up.delivered && is_hung_up(relay->local_fd)) ||
           (relay->down.delivered && is_hung_up(relay->far->fd));
}

void sbi_relay_free(struct sbi_relay *relay) {
    drop_buffer(&relay->up);
    drop_buffer(&relay->down);
}
