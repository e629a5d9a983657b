/* tunnel.c - the threads, and the passing of bytes. What a redirected connection is for is decided
 * in redirected.c. */
#include "tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_TUNNELS 512
#define STACK_SIZE (256 * 1024)
#define BUFFER_SIZE (32 * 1024)

struct tunnel {
    struct tunnel *next, *previous;
    int client_fd;
    tunnel_work *work;
};

static struct tunnel *first;
static unsigned running;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *serve(void *user) {
    struct tunnel *tunnel = user;
    tunnel->work(tunnel->client_fd);
    pthread_mutex_lock(&lock);
    if (tunnel->previous)
        tunnel->previous->next = tunnel->next;
    else
        first = tunnel->next;
    if (tunnel->next)
        tunnel->next->previous = tunnel->previous;
    running--;
    close(tunnel->client_fd);
    pthread_mutex_unlock(&lock);
    free(tunnel);
    return NULL;
}

static int start_thread(struct tunnel *tunnel) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&thread, &attributes, serve, tunnel);
    pthread_attr_destroy(&attributes);
    return error;
}

void tunnel_start(int client_fd, tunnel_work *work) {
    struct tunnel *tunnel = malloc(sizeof *tunnel);
    pthread_mutex_lock(&lock);
    bool started = tunnel && running < MAX_TUNNELS;
    if (started) {
        *tunnel = (struct tunnel){.next = first, .client_fd = client_fd, .work = work};
        started = start_thread(tunnel) == 0; /* it cannot end before we let go of the lock */
    }
    if (started) {
        if (first)
            first->previous = tunnel;
        first = tunnel;
        running++;
    }
    pthread_mutex_unlock(&lock);
    if (!started) {
        free(tunnel);
        close(client_fd);
    }
}

void tunnel_cut_all(void) {
    pthread_mutex_lock(&lock);
    for (struct tunnel *tunnel = first; tunnel; tunnel = tunnel->next)
        shutdown(tunnel->client_fd, SHUT_RDWR);
    pthread_mutex_unlock(&lock);
}

/* One direction. */
struct flow {
    int from, to;
    size_t used, sent;
    bool ended; /* nothing more to read */
    bool done;  /* and all of it written */
    char bytes[BUFFER_SIZE];
};

/* Does what can be done now. False when the connection is broken. */
static bool move(struct flow *flow, short readable, short writable) {
    if (flow->used == 0 && !flow->ended && readable) {
        ssize_t got = recv(flow->from, flow->bytes, sizeof flow->bytes, 0);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR;
        flow->used = (size_t)got;
        flow->sent = 0;
        flow->ended = got == 0;
        writable = 1; /* likely */
    }
    if (flow->used > 0 && writable) {
        ssize_t sent = send(flow->to, flow->bytes + flow->sent, flow->used, MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        flow->sent += (size_t)sent;
        flow->used -= (size_t)sent;
    }
    if (flow->ended && flow->used == 0 && !flow->done) {
        flow->done = true;
        shutdown(flow->to, SHUT_WR);
    }
    return true;
}

static short wanted(const struct flow *in, const struct flow *out) {
    return (short)((in->used == 0 && !in->ended ? POLLIN : 0) | (out->used > 0 ? POLLOUT : 0));
}

void tunnel_relay(int first_fd, int second_fd) {
    struct flow *there = calloc(1, sizeof *there), *back = calloc(1, sizeof *back);
    bool good = there && back && fcntl(first_fd, F_SETFL, O_NONBLOCK) == 0 &&
                fcntl(second_fd, F_SETFL, O_NONBLOCK) == 0;
    if (good) {
        there->from = back->to = first_fd;
        there->to = back->from = second_fd;
    }
    while (good && !(there->done && back->done)) {
        struct pollfd ends[2] = {{.fd = first_fd, .events = wanted(there, back)},
                                 {.fd = second_fd, .events = wanted(back, there)}};
        /* An end that is not waited for would still tell of its hang-up, over and over. */
        for (int i = 0; i < 2; i++)
            if (ends[i].events == 0)
                ends[i].fd = -1;
        if (poll(ends, 2, -1) < 0 && errno != EINTR)
            break;
        const short in = POLLIN | POLLHUP | POLLERR, out = POLLOUT | POLLHUP | POLLERR;
        good = move(there, ends[0].revents & in, ends[1].revents & out) &&
               move(back, ends[1].revents & in, ends[0].revents & out);
    }
    free(there);
    free(back);
}
