/*
 * scripted_server.h - an HTTP server in a thread of the test, on plain sockets, that answers what
 * the test has written down: well-formed or not, whole, byte by byte, or never.
 *
 * Answers are given in the order in which they were added, to the first request each matches; a
 * request that none matches gets a usual answer of the control plane. All that came is kept.
 */
#ifndef SPEC_CORE_SCRIPTED_SERVER_H
#define SPEC_CORE_SCRIPTED_SERVER_H

#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SERVER_CONNECTIONS 64
#define SERVER_REQUEST 65536
#define SERVER_ANSWERS 64

enum answer_way {
    ANSWER_KEEP,   /* sends it, keeps the connection */
    ANSWER_CLOSE,  /* sends it and closes */
    ANSWER_RESET,  /* sends it and resets the connection */
    ANSWER_LATE,   /* the same, after 0.3 seconds */
    ANSWER_SLOWLY, /* sends it byte by byte, then keeps the connection */
    ANSWER_HOLD    /* sends it and leaves the rest open: the client waits */
};

struct answer {
    const char *request; /* how the request begins: "POST /execute" */
    char *bytes;
    size_t length;
    enum answer_way way;
    bool used;
};

struct server {
    int fd;
    int stop[2]; /* a pipe */
    char directory[64], path[108];
    int port; /* TCP; 0: a unix socket at path */
    pthread_t thread;
    pthread_mutex_t lock;
    struct answer answers[SERVER_ANSWERS];
    size_t answer_count;
    char *requests[1024];
    size_t request_count;
    size_t hung_up; /* connections that clients closed */
    struct {
        int fd;
        char *bytes;
        size_t length;
    } connections[SERVER_CONNECTIONS];
};

static inline void server_send(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0) {
            return; /* the client has left */
        }
        bytes += sent;
        length -= (size_t)sent;
    }
}

static inline const char *server_usual_answer(const char *request) {
    if (strncmp(request, "POST /v2/sandboxes ", 19) == 0 || strstr(request, "/connect ") != NULL) {
        return "HTTP/1.1 201 Created\r\nContent-Length: 72\r\n\r\n"
               "{\"sandboxID\": \"i123\", \"envdVersion\": \"0.1.3\", "
               "\"envdAccessToken\":\"token\"}";
    }
    if (strncmp(request, "GET /v2/sandboxes", 17) == 0) {
        return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]";
    }
    if (strncmp(request, "DELETE ", 7) == 0 || strncmp(request, "PUT ", 4) == 0 ||
        strncmp(request, "GET /health", 11) == 0 || strstr(request, "/timeout ") != NULL) {
        return "HTTP/1.1 204 No Content\r\n\r\n";
    }
    return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
}

/* Returns whether the connection stays. */
static inline bool server_answer(struct server *server, int fd, const char *request) {
    struct answer *found = NULL;
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->answer_count && found == NULL; i++) {
        struct answer *answer = &server->answers[i];
        if (!answer->used && strncmp(request, answer->request, strlen(answer->request)) == 0) {
            answer->used = true;
            found = answer;
        }
    }
    pthread_mutex_unlock(&server->lock);
    if (found == NULL) {
        const char *usual = server_usual_answer(request);
        server_send(fd, usual, strlen(usual));
        return true;
    }
    if (found->way == ANSWER_LATE) {
        nanosleep(&(struct timespec){.tv_nsec = 300 * 1000 * 1000}, NULL);
    }
    size_t piece = found->way == ANSWER_SLOWLY ? 1 : found->length;
    for (size_t at = 0; at < found->length; at += piece) {
        server_send(fd, found->bytes + at, piece);
    }
    if (found->way == ANSWER_RESET) {
        struct linger linger = {1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    }
    return found->way != ANSWER_CLOSE && found->way != ANSWER_RESET;
}

/* The whole length of a request of which `bytes` is the begin, or 0 when its head is not there yet.
 */
static inline size_t server_request_length(const char *bytes) {
    const char *end = strstr(bytes, "\r\n\r\n");
    if (end == NULL) {
        return 0;
    }
    const char *length = strcasestr(bytes, "\r\nContent-Length:");
    size_t body = length != NULL && length < end ? strtoul(length + 17, NULL, 10) : 0;
    return (size_t)(end + 4 - bytes) + body;
}

static inline void server_close(struct server *server, size_t i) {
    close(server->connections[i].fd);
    free(server->connections[i].bytes);
    server->connections[i].bytes = NULL;
    server->connections[i].fd = -1;
}

static inline void server_read(struct server *server, size_t i) {
    char *bytes = server->connections[i].bytes;
    size_t *length = &server->connections[i].length;
    ssize_t count =
        recv(server->connections[i].fd, bytes + *length, SERVER_REQUEST - 1 - *length, 0);
    if (count <= 0) {
        pthread_mutex_lock(&server->lock);
        server->hung_up++;
        pthread_mutex_unlock(&server->lock);
        server_close(server, i);
        return;
    }
    *length += (size_t)count;
    /* A frame's header has NUL bytes; those of a request's head do not matter here. */
    char text[SERVER_REQUEST];
    for (size_t k = 0; k < *length; k++) {
        text[k] = bytes[k] == '\0' ? '0' : bytes[k];
    }
    text[*length] = '\0';
    size_t whole = server_request_length(text);
    if (whole == 0 || *length < whole) {
        return;
    }
    pthread_mutex_lock(&server->lock);
    if (server->request_count < 1024) {
        server->requests[server->request_count++] = strdup(text);
    }
    pthread_mutex_unlock(&server->lock);
    *length = 0;
    if (!server_answer(server, server->connections[i].fd, text)) {
        server_close(server, i);
    }
}

static inline void server_accept(struct server *server) {
    int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);
    for (size_t i = 0; i < SERVER_CONNECTIONS && fd >= 0; i++) {
        if (server->connections[i].fd < 0) {
            server->connections[i].fd = fd;
            server->connections[i].length = 0;
            server->connections[i].bytes = malloc(SERVER_REQUEST);
            fd = -1;
        }
    }
    assert(fd < 0);
}

static inline void *server_main(void *user) {
    struct server *server = user;
    for (;;) {
        struct pollfd polls[SERVER_CONNECTIONS + 2];
        polls[0] = (struct pollfd){server->stop[0], POLLIN, 0};
        polls[1] = (struct pollfd){server->fd, POLLIN, 0};
        for (size_t i = 0; i < SERVER_CONNECTIONS; i++) {
            polls[i + 2] = (struct pollfd){server->connections[i].fd, POLLIN, 0};
        }
        poll(polls, SERVER_CONNECTIONS + 2, -1);
        if (polls[0].revents != 0) {
            return NULL;
        }
        for (size_t i = 0; i < SERVER_CONNECTIONS; i++) {
            if (polls[i + 2].revents != 0 && polls[i + 2].fd >= 0) {
                server_read(server, i);
            }
        }
        if (polls[1].revents != 0) {
            server_accept(server);
        }
    }
}

static inline void server_listen(struct server *server, bool is_tcp) {
    if (is_tcp) {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t length = sizeof address;
        server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int status = bind(server->fd, (struct sockaddr *)&address, length);
        assert(status == 0);
        getsockname(server->fd, (struct sockaddr *)&address, &length);
        server->port = ntohs(address.sin_port);
        (void)status;
    } else {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        strcpy(address.sun_path, server->path);
        server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int status = bind(server->fd, (struct sockaddr *)&address, sizeof address);
        assert(status == 0);
        (void)status;
    }
    listen(server->fd, 64);
}

/* A server that listens, on a unix socket in a directory of its own or on TCP. */
static inline struct server *server_new(bool is_tcp) {
    struct server *server = calloc(1, sizeof *server);
    strcpy(server->directory, "/tmp/stepbox-spec-XXXXXX");
    char *made = mkdtemp(server->directory);
    assert(made != NULL);
    (void)made;
    snprintf(server->path, sizeof server->path, "%s/s", server->directory);
    pthread_mutex_init(&server->lock, NULL);
    for (size_t i = 0; i < SERVER_CONNECTIONS; i++) {
        server->connections[i].fd = -1;
    }
    int status = pipe(server->stop);
    assert(status == 0);
    (void)status;
    server_listen(server, is_tcp);
    pthread_create(&server->thread, NULL, server_main, server);
    return server;
}

static inline void server_free(struct server *server) {
    close(server->stop[1]);
    pthread_join(server->thread, NULL);
    close(server->stop[0]);
    close(server->fd);
    for (size_t i = 0; i < SERVER_CONNECTIONS; i++) {
        if (server->connections[i].fd >= 0) {
            server_close(server, i);
        }
    }
    for (size_t i = 0; i < server->answer_count; i++) {
        free(server->answers[i].bytes);
    }
    for (size_t i = 0; i < server->request_count; i++) {
        free(server->requests[i]);
    }
    unlink(server->path);
    rmdir(server->directory);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

/* Adds an answer as raw bytes. */
static inline void server_add_bytes(struct server *server, const char *request, const void *bytes,
                                    size_t length, enum answer_way way) {
    pthread_mutex_lock(&server->lock);
    assert(server->answer_count < SERVER_ANSWERS);
    struct answer *answer = &server->answers[server->answer_count++];
    *answer = (struct answer){.request = request, .length = length, .way = way};
    answer->bytes = malloc(length + 1);
    memcpy(answer->bytes, bytes, length);
    pthread_mutex_unlock(&server->lock);
}

static inline void server_add(struct server *server, const char *request, const char *bytes,
                              enum answer_way way) {
    server_add_bytes(server, request, bytes, strlen(bytes), way);
}

/* Adds an answer with a body: status is "404 Not Found", headers end each with "\r\n". */
static inline void server_add_reply(struct server *server, const char *request, const char *status,
                                    const char *headers, const char *body) {
    char *bytes;
    int length = asprintf(&bytes, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s", status, headers,
                          strlen(body), body);
    server_add_bytes(server, request, bytes, (size_t)length, ANSWER_KEEP);
    free(bytes);
}

/* Adds a chunked stream of one chunk; is_whole: with the chunk that ends it. */
static inline void server_add_stream_bytes(struct server *server, const char *request,
                                           const char *body, size_t body_length, bool is_whole,
                                           enum answer_way way) {
    char head[100], *bytes = malloc(body_length + 200);
    int length =
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n",
                 body_length);
    memcpy(bytes, head, (size_t)length);
    memcpy(bytes + length, body, body_length);
    const char *tail = is_whole ? "\r\n0\r\n\r\n" : "\r\n";
    memcpy(bytes + (size_t)length + body_length, tail, strlen(tail));
    server_add_bytes(server, request, bytes, (size_t)length + body_length + strlen(tail), way);
    free(bytes);
}

static inline void server_add_stream(struct server *server, const char *request, const char *body,
                                     bool is_whole, enum answer_way way) {
    server_add_stream_bytes(server, request, body, strlen(body), is_whole, way);
}

/* How many requests contain the text. */
static inline size_t server_count(struct server *server, const char *text) {
    size_t count = 0;
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->request_count; i++) {
        count += strstr(server->requests[i], text) != NULL;
    }
    pthread_mutex_unlock(&server->lock);
    return count;
}

static inline size_t server_hung_up(struct server *server) {
    pthread_mutex_lock(&server->lock);
    size_t count = server->hung_up;
    pthread_mutex_unlock(&server->lock);
    return count;
}

static inline double server_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void server_pause(void) {
    struct timespec ten = {0, 10 * 1000 * 1000};
    nanosleep(&ten, NULL);
}

/* Waits up to five seconds until a request contains the text. */
static inline bool server_saw(struct server *server, const char *text) {
    for (int i = 0; i < 500; i++) {
        if (server_count(server, text) > 0) {
            return true;
        }
        server_pause();
    }
    return false;
}

#endif
