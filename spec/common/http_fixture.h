/*
 * http_fixture.h - for tests: a loop in a thread that serves sockets, and blocking clients of it.
 */
#ifndef STEPBOX_SPEC_HTTP_FIXTURE_H
#define STEPBOX_SPEC_HTTP_FIXTURE_H

#include "http_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct {
    struct ev_loop *loop;
    struct ev_async wake;
    pthread_t thread;
    pthread_mutex_t lock;
    int new_fd; /* to be added to new_server, or -1 */
    http_server *new_server;
    void *new_tag;
    bool stop;
} fixture = {.lock = PTHREAD_MUTEX_INITIALIZER, .new_fd = -1};

static inline double now(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static inline void fixture_on_wake(struct ev_loop *loop, struct ev_async *async, int events) {
    (void)async, (void)events;
    pthread_mutex_lock(&fixture.lock);
    if (fixture.new_fd >= 0)
        assert_int_equal(http_server_add(fixture.new_server, fixture.new_fd, fixture.new_tag), 0);
    fixture.new_fd = -1;
    if (fixture.stop)
        ev_break(loop, EVBREAK_ALL);
    pthread_mutex_unlock(&fixture.lock);
}

static inline void *fixture_run(void *unused) {
    (void)unused;
    ev_run(fixture.loop, 0);
    return NULL;
}

/* Runs the loop in a thread: nothing else may use it until fixture_stop(). */
static inline int fixture_start(struct ev_loop *loop) {
    fixture.loop = loop;
    fixture.stop = false;
    ev_async_init(&fixture.wake, fixture_on_wake);
    ev_async_start(loop, &fixture.wake);
    /* Children are the loop's: here their signals would only interrupt calls. */
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_UNBLOCK, &child, NULL);
    int failed = pthread_create(&fixture.thread, NULL, fixture_run, NULL);
    pthread_sigmask(SIG_BLOCK, &child, NULL);
    return failed;
}

static inline void fixture_stop(void) {
    pthread_mutex_lock(&fixture.lock);
    fixture.stop = true;
    pthread_mutex_unlock(&fixture.lock);
    ev_async_send(fixture.loop, &fixture.wake);
    pthread_join(fixture.thread, NULL);
    ev_async_stop(fixture.loop, &fixture.wake);
}

struct client {
    int fd;
    size_t have;
    char buffer[65536]; /* received and not used yet */
};

struct answer {
    int status;
    char head[4096];
    char *body;
    size_t length, capacity;
    bool cut; /* ended without its final chunk */
};

/* Gives the server's end of a connection to the loop. */
static inline void hand_over(http_server *server, void *tag, int fd) {
    for (bool taken = false; !taken;) {
        pthread_mutex_lock(&fixture.lock);
        if (fixture.new_fd < 0) {
            fixture.new_fd = fd;
            fixture.new_server = server;
            fixture.new_tag = tag;
            taken = true;
        }
        pthread_mutex_unlock(&fixture.lock);
    }
    ev_async_send(fixture.loop, &fixture.wake);
}

static inline struct client *connect_to(http_server *server, void *tag) {
    int pair[2];
    struct client *client = calloc(1, sizeof *client);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    client->fd = pair[0];
    hand_over(server, tag, pair[1]);
    return client;
}

static inline void disconnect(struct client *client) {
    close(client->fd);
    free(client);
}

static inline void send_bytes(struct client *client, const char *bytes, size_t length) {
    while (length) {
        ssize_t sent = send(client->fd, bytes, length, MSG_NOSIGNAL);
        assert_true(sent > 0);
        bytes += sent;
        length -= (size_t)sent;
    }
}

static inline void send_text(struct client *client, const char *text) {
    send_bytes(client, text, strlen(text));
}

/* Whether something has come that was not received. */
static inline bool has_answer(const struct client *client) {
    struct pollfd pfd = {.fd = client->fd, .events = POLLIN};
    return poll(&pfd, 1, 0) == 1;
}

/* Receives more; false at the end of the connection. Fails when nothing comes for 10 s. */
static inline bool receive(struct client *client) {
    struct pollfd pfd = {.fd = client->fd, .events = POLLIN};
    assert_true(client->have < sizeof client->buffer);
    assert_int_equal(poll(&pfd, 1, 10000), 1);
    ssize_t got =
        recv(client->fd, client->buffer + client->have, sizeof client->buffer - client->have, 0);
    if (got <= 0)
        return false;
    client->have += (size_t)got;
    return true;
}

static inline void use(struct client *client, size_t length) {
    client->have -= length;
    memmove(client->buffer, client->buffer + length, client->have);
}

/* Finds a line's length including its end; false when the connection ended before. */
static inline bool line_length(struct client *client, size_t *length) {
    for (;;) {
        char *end = memmem(client->buffer, client->have, "\r\n", 2);
        if (end) {
            *length = (size_t)(end - client->buffer) + 2;
            return true;
        }
        if (!receive(client))
            return false;
    }
}

static inline bool take(struct client *client, char *to, size_t length) {
    while (length) {
        if (!client->have && !receive(client))
            return false;
        size_t part = client->have < length ? client->have : length;
        memcpy(to, client->buffer, part);
        use(client, part);
        to += part;
        length -= part;
    }
    return true;
}

static inline struct answer read_head(struct client *client) {
    struct answer answer = {0};
    char *end;
    while (!(end = memmem(client->buffer, client->have, "\r\n\r\n", 4)))
        assert_true(receive(client));
    size_t head = (size_t)(end - client->buffer) + 4;
    assert_true(head < sizeof answer.head);
    memcpy(answer.head, client->buffer, head);
    use(client, head);
    assert_int_equal(sscanf(answer.head, "HTTP/1.1 %d", &answer.status), 1);
    return answer;
}

/* Takes a whole chunk behind what the body has; false at its end, or when it is cut. */
static inline bool read_chunk(struct client *client, struct answer *answer) {
    size_t line;
    if (!line_length(client, &line)) {
        answer->cut = true;
        return false;
    }
    size_t chunk = strtoul(client->buffer, NULL, 16);
    use(client, line);
    if (answer->capacity < answer->length + chunk + 3) {
        answer->capacity = 2 * (answer->length + chunk + 3);
        answer->body = realloc(answer->body, answer->capacity);
    }
    assert_true(take(client, answer->body + answer->length, chunk + 2));
    answer->length += chunk;
    answer->body[answer->length] = '\0';
    return chunk > 0;
}

static inline struct answer read_answer(struct client *client, bool head_only) {
    struct answer answer = read_head(client);
    if (head_only || answer.status == 204 || answer.status == 100)
        return answer;
    char *length = strcasestr(answer.head, "\r\nContent-Length:");
    if (length) {
        answer.length = strtoul(length + 17, NULL, 10);
        answer.body = malloc(answer.length + 1);
        assert_true(take(client, answer.body, answer.length));
        answer.body[answer.length] = '\0';
        return answer;
    }
    assert_non_null(strcasestr(answer.head, "\r\nTransfer-Encoding: chunked"));
    while (read_chunk(client, &answer))
        ;
    return answer;
}

static inline void expect(struct client *client, int status, const char *body) {
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, status);
    assert_string_equal(answer.body, body);
    free(answer.body);
}

static inline void get(struct client *client, const char *path) {
    char text[1000];
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path);
    send_text(client, text);
}

#endif
