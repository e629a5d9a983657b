#include "refused_calls.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Answers a second: of one sandbox, and of all. Each takes the engine some ten microseconds. */
#define RATE 1000.0
#define RATE_OF_ALL 2000.0
/* Answers that may come at once, after a quiet time. */
#define BURST 500.0
#define BURST_OF_ALL 1000.0
/* Seconds between the answers of a sandbox that has used its own up. */
#define TICK 0.05
/* A runner of a context has one. */
#define MAX_LISTENERS 1024

/* So many a second, and no more at once than fit. */
struct bucket {
    double rate, size, tokens, filled; /* when, in seconds */
};

struct refused_set {
    struct ev_loop *loop;
    struct syscall_filter *filter;
    struct bucket bucket;
    size_t held; /* sandboxes that wait for ticks */
    /* Of the kernel's sizes, which may be larger than those we were built with. */
    struct seccomp_notif *request;
    struct seccomp_notif_resp *response;
    size_t request_size, response_size;
};

struct listener {
    struct refused_calls *calls;
    struct listener *next;
    ev_io readable;
};

struct refused_calls {
    struct refused_set *set;
    struct bucket bucket;
    refused_first *tell_first;
    void *user;
    struct listener *first;
    size_t listeners;
    ev_timer tick; /* active: listeners are not watched, but asked at each tick */
    uint64_t counts[SYSCALL_KINDS];
};

/* By a clock that does not jump. */
static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct bucket full_bucket(double rate, double size) {
    return (struct bucket){rate, size, size, seconds_now()};
}

static void fill(struct bucket *bucket, double now) {
    bucket->tokens += (now - bucket->filled) * bucket->rate;
    bucket->filled = now;
    if (bucket->tokens > bucket->size)
        bucket->tokens = bucket->size;
}

struct refused_set *refused_set_new(struct ev_loop *loop, struct syscall_filter *filter) {
    struct seccomp_notif_sizes sizes = {0};
    struct refused_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    /* Fails where there are no listeners either. */
    syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    set->request_size =
        sizes.seccomp_notif > sizeof *set->request ? sizes.seccomp_notif : sizeof *set->request;
    set->response_size = sizes.seccomp_notif_resp > sizeof *set->response ? sizes.seccomp_notif_resp
                                                                          : sizeof *set->response;
    set->request = malloc(set->request_size);
    set->response = malloc(set->response_size);
    set->loop = loop;
    set->filter = filter;
    set->bucket = full_bucket(RATE_OF_ALL, BURST_OF_ALL);
    if (set->request && set->response)
        return set;
    refused_set_free(set);
    return NULL;
}

void refused_set_free(struct refused_set *set) {
    if (!set)
        return;
    free(set->request);
    free(set->response);
    free(set);
}

const struct syscall_filter *refused_set_filter(const struct refused_set *set) {
    return set->filter;
}

static void drop(struct listener *listener) {
    struct refused_calls *calls = listener->calls;
    struct listener **place = &calls->first;
    while (*place != listener)
        place = &(*place)->next;
    *place = listener->next;
    calls->listeners--;
    ev_io_stop(calls->set->loop, &listener->readable);
    close(listener->readable.fd);
    free(listener);
}

enum state { IDLE, WAITING, ENDED };

/* To ask for a call when none waits would wait for one. */
static enum state state_of(const struct listener *listener) {
    struct pollfd poll_fd = {.fd = listener->readable.fd, .events = POLLIN};
    if (poll(&poll_fd, 1, 0) < 0)
        return IDLE;
    if (poll_fd.revents & POLLIN)
        return WAITING;
    return poll_fd.revents & (POLLHUP | POLLERR | POLLNVAL) ? ENDED : IDLE;
}

/* Answers the first call that waits. Returns false when the listener is none. */
static bool answer(struct listener *listener) {
    struct refused_calls *calls = listener->calls;
    struct refused_set *set = calls->set;
    memset(set->request, 0, set->request_size);
    if (ioctl(listener->readable.fd, SECCOMP_IOCTL_NOTIF_RECV, set->request) < 0)
        return errno == ENOENT || errno == EINTR; /* the caller was killed, or got a signal */
    memset(set->response, 0, set->response_size);
    set->response->id = set->request->id;
    set->response->error = -syscall_filter_error(set->filter, &set->request->data);
    /* A caller that got a signal calls again, and is counted then. */
    size_t kind = syscall_filter_kind(set->filter, &set->request->data);
    if (ioctl(listener->readable.fd, SECCOMP_IOCTL_NOTIF_SEND, set->response) == 0 &&
        calls->counts[kind]++ == 0)
        calls->tell_first(syscall_filter_kind_name(set->filter, kind), calls->user);
    return true;
}

/* Takes a token of the sandbox, and one of all. */
static bool may_answer(struct refused_calls *calls) {
    struct bucket *own = &calls->bucket, *common = &calls->set->bucket;
    double now = seconds_now();
    fill(own, now);
    fill(common, now);
    if (own->tokens < 1 || common->tokens < 1)
        return false;
    own->tokens -= 1;
    common->tokens -= 1;
    return true;
}

/* Watches the listeners, or asks them at each tick. */
static void hold(struct refused_calls *calls, bool on) {
    struct ev_loop *loop = calls->set->loop;
    if (on == ev_is_active(&calls->tick))
        return;
    if (on) {
        ev_timer_again(loop, &calls->tick);
        calls->set->held++;
    } else {
        ev_timer_stop(loop, &calls->tick);
        calls->set->held--;
    }
    for (struct listener *each = calls->first; each; each = each->next)
        if (on)
            ev_io_stop(loop, &each->readable);
        else
            ev_io_start(loop, &each->readable);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    struct listener *listener = io->data;
    struct refused_calls *calls = listener->calls;
    enum state state = state_of(listener);
    if (state == WAITING && !may_answer(calls))
        hold(calls, true);
    else if (state == ENDED || (state == WAITING && !answer(listener)))
        drop(listener);
}

/* One that was asked last is asked last again: the first in the list goes to its end. */
static void rotate(struct refused_calls *calls) {
    struct listener *first = calls->first, **end = &calls->first;
    if (!first)
        return;
    calls->first = first->next;
    while (*end)
        end = &(*end)->next;
    *end = first;
    first->next = NULL;
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    (void)loop;
    struct refused_calls *calls = timer->data;
    /* What all may have until the next tick, shared by those who want more than there is. */
    size_t share = (size_t)(RATE_OF_ALL * TICK) / calls->set->held + 1;
    size_t idle = 0; /* in a row */
    while (calls->first && idle < calls->listeners) {
        struct listener *listener = calls->first;
        enum state state = state_of(listener);
        if (state == WAITING && (share-- == 0 || !may_answer(calls)))
            return; /* more at the next tick */
        if (state == ENDED || (state == WAITING && !answer(listener))) {
            drop(listener);
            continue;
        }
        idle = state == IDLE ? idle + 1 : 0;
        rotate(calls);
    }
    hold(calls, false);
}

struct refused_calls *refused_calls_new(struct refused_set *set, refused_first *first, void *user) {
    struct refused_calls *calls = calloc(1, sizeof *calls);
    if (!calls)
        return NULL;
    calls->set = set;
    calls->tell_first = first;
    calls->user = user;
    calls->bucket = full_bucket(RATE, BURST);
    ev_timer_init(&calls->tick, on_tick, 0.0, TICK);
    calls->tick.data = calls;
    return calls;
}

void refused_calls_free(struct refused_calls *calls) {
    if (!calls)
        return;
    hold(calls, false);
    while (calls->first)
        drop(calls->first);
    free(calls);
}

/* A descriptor that came from a sandbox may be of anything, and some things never answer. */
static bool is_listener(int fd) {
    static const char kind[] = "anon_inode:seccomp notify";
    char path[32], target[sizeof kind];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof target);
    return length == sizeof kind - 1 && memcmp(target, kind, sizeof kind - 1) == 0;
}

int refused_calls_add(struct refused_calls *calls, int listener_fd) {
    struct listener *listener = NULL;
    if (!is_listener(listener_fd))
        errno = ENOTTY;
    else if (calls->listeners == MAX_LISTENERS)
        errno = ENFILE;
    else
        listener = calloc(1, sizeof *listener);
    if (!listener) {
        int saved = errno;
        close(listener_fd);
        errno = saved;
        return -1;
    }
    listener->calls = calls;
    listener->next = calls->first;
    calls->first = listener;
    calls->listeners++;
    ev_io_init(&listener->readable, on_readable, listener_fd, EV_READ);
    listener->readable.data = listener;
    if (!ev_is_active(&calls->tick))
        ev_io_start(calls->set->loop, &listener->readable);
    return 0;
}

size_t refused_calls_listeners(const struct refused_calls *calls) {
    return calls->listeners;
}

json_t *refused_calls_describe(const struct refused_calls *calls) {
    json_t *object = json_object();
    for (size_t kind = 0; object && kind < SYSCALL_KINDS; kind++)
        if (calls->counts[kind])
            json_object_set_new(object, syscall_filter_kind_name(calls->set->filter, kind),
                                json_integer((json_int_t)calls->counts[kind]));
    return object;
}
