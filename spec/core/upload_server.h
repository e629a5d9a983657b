/*
 * upload_server.h - an HTTP server in a thread of the test that takes bodies of any length, whole
 * or until it answers early.
 */
#ifndef SPEC_CORE_UPLOAD_SERVER_H
#define SPEC_CORE_UPLOAD_SERVER_H

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define UPLOAD_HEAD 16384
#define UPLOAD_CONNECTIONS 16

enum upload_way {
    UPLOAD_TAKE,  /* reads the body, then answers */
    UPLOAD_EARLY, /* answers at once, then closes */
    UPLOAD_DRAIN, /* answers at once, then reads and drops */
    UPLOAD_STALL  /* reads `limit` bytes and no more, and answers nothing */
};

struct upload_server;

struct upload_reader {
    struct upload_server *server;
    pthread_t thread;
    int fd;
    char bytes[65536];
    size_t begin, end;
    bool is_over;
};

struct upload_server {
    char directory[64], path[108];
    int fd;
    pthread_t thread;
    pthread_mutex_t lock;
    struct upload_reader *readers[UPLOAD_CONNECTIONS];
    size_t count;
    /* Set while nothing is under way: */
    enum upload_way way;
    size_t limit;
    const char *answer;
    /* What came: */
    char head[UPLOAD_HEAD];
    char *body;
    size_t length, room;
    bool was_cut; /* the client left before the body's end */
};

static inline void upload_keep(struct upload_server *server, const char *bytes, size_t length) {
    if (server->length + length > server->room) {
        server->room = (server->length + length) * 2;
        server->body = realloc(server->body, server->room);
    }
    memcpy(server->body + server->length, bytes, length);
    server->length += length;
}

static inline bool upload_fill(struct upload_reader *reader) {
    ssize_t count = recv(reader->fd, reader->bytes, sizeof reader->bytes, 0);
    reader->begin = 0;
    reader->end = count > 0 ? (size_t)count : 0;
    reader->is_over = count <= 0;
    return !reader->is_over;
}

static inline int upload_byte(struct upload_reader *reader) {
    if (reader->begin == reader->end && !upload_fill(reader)) {
        return -1;
    }
    return (unsigned char)reader->bytes[reader->begin++];
}

/* A line with its end, as text. */
static inline bool upload_line(struct upload_reader *reader, char *line, size_t size) {
    size_t length = 0;
    int byte;
    while (length + 1 < size && (byte = upload_byte(reader)) >= 0) {
        line[length++] = (char)byte;
        if (byte == '\n') {
            line[length] = '\0';
            return true;
        }
    }
    return false;
}

static inline bool upload_take(struct upload_server *server, struct upload_reader *reader,
                               size_t left) {
    while (left > 0) {
        if (server->way == UPLOAD_STALL && server->length >= server->limit) {
            return true;
        }
        if (reader->begin == reader->end && !upload_fill(reader)) {
            return false;
        }
        size_t count = reader->end - reader->begin < left ? reader->end - reader->begin : left;
        upload_keep(server, reader->bytes + reader->begin, count);
        reader->begin += count;
        left -= count;
    }
    return true;
}

static inline bool upload_take_chunks(struct upload_server *server, struct upload_reader *reader) {
    char line[100];
    while (upload_line(reader, line, sizeof line)) {
        size_t length = strtoul(line, NULL, 16);
        if (length == 0) {
            return upload_line(reader, line, sizeof line);
        }
        if (!upload_take(server, reader, length) || !upload_line(reader, line, sizeof line)) {
            return false;
        }
    }
    return false;
}

static inline bool upload_take_body(struct upload_server *server, struct upload_reader *reader) {
    const char *length = strcasestr(server->head, "\r\nContent-Length:");
    return length != NULL ? upload_take(server, reader, strtoul(length + 17, NULL, 10))
                          : upload_take_chunks(server, reader);
}

static inline void upload_send(int fd, const char *text) {
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static inline bool upload_read_head(struct upload_server *server, struct upload_reader *reader) {
    size_t used = 0;
    char line[8192];
    do {
        if (!upload_line(reader, line, sizeof line)) {
            return false;
        }
        size_t length = strlen(line);
        assert(used + length < UPLOAD_HEAD);
        memcpy(server->head + used, line, length + 1);
        used += length;
    } while (strcmp(line, "\r\n") != 0);
    return true;
}

/* One request; whether the connection goes on. */
static inline bool upload_serve(struct upload_server *server, struct upload_reader *reader) {
    if (!upload_read_head(server, reader)) {
        return false;
    }
    server->length = 0;
    if (strstr(server->head, "/connect HTTP") != NULL) {
        upload_take_body(server, reader);
        upload_send(reader->fd, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"
                                "{\"sandboxID\":\"i123\"}");
        return true;
    }
    if (server->way == UPLOAD_EARLY || server->way == UPLOAD_DRAIN) {
        upload_send(reader->fd, server->answer);
        return server->way == UPLOAD_DRAIN && upload_take_body(server, reader);
    }
    server->was_cut = !upload_take_body(server, reader);
    if (server->way == UPLOAD_STALL) {
        struct pollfd left = {reader->fd, 0, 0}; /* until the client has hung up */
        poll(&left, 1, -1);
        return false;
    }
    upload_send(reader->fd, server->answer);
    return !server->was_cut;
}

/* What came is one request's: another waits until that has ended. */
static inline bool upload_serve_next(struct upload_reader *reader) {
    if (reader->begin == reader->end && !upload_fill(reader)) {
        return false;
    }
    pthread_mutex_lock(&reader->server->lock);
    bool goes_on = upload_serve(reader->server, reader);
    pthread_mutex_unlock(&reader->server->lock);
    return goes_on;
}

static inline void *upload_serve_all(void *user) {
    struct upload_reader *reader = user;
    while (upload_serve_next(reader)) {
    }
    shutdown(reader->fd, SHUT_RDWR); /* the descriptor is closed when all is over */
    return NULL;
}

static inline void *upload_main(void *user) {
    struct upload_server *server = user;
    int fd;
    while ((fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        assert(server->count < UPLOAD_CONNECTIONS);
        struct upload_reader *reader = calloc(1, sizeof *reader);
        reader->fd = fd;
        reader->server = server;
        pthread_create(&reader->thread, NULL, upload_serve_all, reader);
        server->readers[server->count++] = reader;
    }
    return NULL;
}

static inline struct upload_server *upload_server_new(void) {
    struct upload_server *server = calloc(1, sizeof *server);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_mutex_init(&server->lock, NULL);
    strcpy(server->directory, "/tmp/stepbox-spec-XXXXXX");
    char *made = mkdtemp(server->directory);
    assert(made != NULL);
    (void)made;
    snprintf(server->path, sizeof server->path, "%s/s", server->directory);
    strcpy(address.sun_path, server->path);
    server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int status = bind(server->fd, (struct sockaddr *)&address, sizeof address);
    assert(status == 0);
    (void)status;
    listen(server->fd, 16);
    pthread_create(&server->thread, NULL, upload_main, server);
    return server;
}

/* Ends the threads: what came can be looked at then. */
static inline void upload_server_stop(struct upload_server *server) {
    if (server->fd >= 0) {
        shutdown(server->fd, SHUT_RDWR);
        pthread_join(server->thread, NULL);
        close(server->fd);
        server->fd = -1;
    }
    for (; server->count > 0; server->count--) {
        struct upload_reader *reader = server->readers[server->count - 1];
        shutdown(reader->fd, SHUT_RDWR);
        pthread_join(reader->thread, NULL);
        close(reader->fd);
        free(reader);
    }
}

static inline void upload_server_free(struct upload_server *server) {
    upload_server_stop(server);
    unlink(server->path);
    rmdir(server->directory);
    pthread_mutex_destroy(&server->lock);
    free(server->body);
    free(server);
}

#endif
