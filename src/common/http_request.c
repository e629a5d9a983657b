/* http_request.c - a request as its handler sees it, plain answers, and noticing that a client
 * left. */
#include "http_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* Seconds between looks at a connection whose end is hidden behind pipelined bytes. */
#define HANGUP_INTERVAL 0.5

static void on_peek(struct ev_loop *loop, struct ev_io *io, int events);
static void on_hangup_timer(struct ev_loop *loop, struct ev_timer *timer, int events);

http_request *http_request_new(http_server *server, struct MHD_Connection *conn, const char *method,
                               const char *path, struct http_connection *from) {
    http_request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;
    request->method = strdup(method);
    request->path = strdup(path);
    if (!request->method || !request->path) {
        free(request->method);
        free(request->path);
        free(request);
        return NULL;
    }
    request->body_is_nothing = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
                               strcmp(method, MHD_HTTP_METHOD_HEAD) == 0 ||
                               strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0;
    request->server = server;
    request->loop = server->loop;
    request->conn = conn;
    request->tag = from->tag;
    request->fd = from->fd;
    request->from = from;
    from->request = request;
    request->stream.request = request;
    ev_io_init(&request->peek, on_peek, from->fd, EV_READ);
    ev_timer_init(&request->hangup, on_hangup_timer, HANGUP_INTERVAL, HANGUP_INTERVAL);
    request->peek.data = request->hangup.data = request;
    request->next = server->requests;
    if (request->next)
        request->next->previous = request;
    server->requests = request;
    return request;
}

static void unlink_request(http_request *request) {
    if (request->previous)
        request->previous->next = request->next;
    else
        request->server->requests = request->next;
    if (request->next)
        request->next->previous = request->previous;
}

static void free_if_let_go(http_request *request) {
    if (request->conn || request->held)
        return;
    if (request->response)
        MHD_destroy_response(request->response);
    for (struct http_header *header = request->headers; header;) {
        struct http_header *next = header->next;
        free(header->name);
        free(header);
        header = next;
    }
    free(request->stream.bytes);
    free(request->body);
    free(request->method);
    free(request->path);
    free(request);
}

void http_request_stop_watching(http_request *request) {
    ev_io_stop(request->loop, &request->peek);
    ev_timer_stop(request->loop, &request->hangup);
}

/* Nobody reads the answer: tells the holder once. */
static void gone(http_request *request) {
    if (request->gone)
        return;
    request->gone = true;
    http_request_stop_watching(request);
    if (request->held && request->on_gone)
        request->on_gone(request->gone_user);
}

/* A stream's connection is closed at once; the shutdown wakes libmicrohttpd also when it waits for
 * a reader that half-closed. Before an answer the connection stays, suspended, since the handler
 * may still want to read the request's headers. */
static void hang_up(http_request *request) {
    if (request->streaming) {
        shutdown(request->fd, SHUT_RDWR);
        http_request_resume(request);
    }
    gone(request);
}

static void on_peek(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)events;
    http_request *request = io->data;
    char byte;
    ssize_t got = recv(request->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) {
        ev_io_stop(loop, io);
        ev_timer_again(loop, &request->hangup);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        hang_up(request);
    }
}

static void on_hangup_timer(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    http_request *request = timer->data;
    /* The bytes that hide the end may be all of the body that is missing. */
    short half = request->streams_body ? 0 : POLLRDHUP;
    struct pollfd pfd = {.fd = request->fd, .events = half};
    if (poll(&pfd, 1, 0) > 0 && pfd.revents & (half | POLLHUP | POLLERR))
        hang_up(request);
}

void http_request_watch(http_request *request) {
    if (request->conn && !request->gone && !ev_is_active(&request->hangup))
        ev_io_start(request->loop, &request->peek);
}

void http_request_suspend(http_request *request) {
    request->suspended = true;
    MHD_suspend_connection(request->conn);
    http_request_watch(request);
}

void http_request_resume(http_request *request) {
    if (!request->suspended || !request->conn)
        return;
    request->suspended = false;
    MHD_resume_connection(request->conn);
    http_server_due(request->server);
}

void http_request_complete(http_request *request, bool complete) {
    if (!complete ||
        request->held) /* held: a HEAD request needed no more than the stream's start */
        gone(request);
    http_request_stop_watching(request);
    unlink_request(request);
    request->from->request = NULL;
    request->from->served = true;
    request->conn = NULL;
    request->server = NULL;
    free_if_let_go(request);
}

void http_request_release(http_request *request) {
    request->held = false;
    request->on_gone = NULL;
    free_if_let_go(request);
}

const char *http_request_method(const http_request *request) {
    return request->method;
}

const char *http_request_path(const http_request *request) {
    return request->path;
}

const char *http_request_body(const http_request *request, size_t *length) {
    if (length)
        *length = request->body_length;
    return request->body ? request->body : "";
}

void *http_request_tag(const http_request *request) {
    return request->tag;
}

struct ev_loop *http_request_loop(const http_request *request) {
    return request->loop;
}

void http_request_on_gone(http_request *request, void (*fn)(void *user), void *user) {
    request->on_gone = fn;
    request->gone_user = user;
}

void http_reply_header(http_request *request, const char *name, const char *value) {
    struct http_header *header = malloc(sizeof *header);
    size_t name_size = strlen(name) + 1, value_size = strlen(value) + 1;
    char *text = header ? malloc(name_size + value_size) : NULL;
    if (!text) {
        free(header);
        request->out_of_memory = true;
        return;
    }
    memcpy(text, name, name_size);
    memcpy(text + name_size, value, value_size);
    *header = (struct http_header){request->headers, text, text + name_size};
    request->headers = header;
}

void http_reply_to_stranger(http_request *request) {
    request->from_stranger = true;
}

void http_reply_close(http_request *request) {
    http_reply_header(request, MHD_HTTP_HEADER_CONNECTION, "close");
}

void http_request_set_response(http_request *request, int status, struct MHD_Response *response) {
    request->status = status;
    request->streams_body = false;
    for (struct http_header *header = request->headers; response && header; header = header->next) {
        if (MHD_add_response_header(response, header->name, header->value) != MHD_YES)
            request->out_of_memory = true;
    }
    if (response && (request->out_of_memory || request->gone)) {
        /* Without a response the connection is closed. */
        MHD_destroy_response(response);
        response = NULL;
    }
    request->response = response;
    http_request_resume(request);
}

enum MHD_Result http_request_queue(http_request *request) {
    if (!request->response) /* it could not be made */
        return MHD_NO;
    if (request->streaming) /* may be silent, or its reader slow, for as long as it takes */
        MHD_set_connection_option(request->conn, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
    enum MHD_Result queued =
        MHD_queue_response(request->conn, (unsigned)request->status, request->response);
    MHD_destroy_response(request->response);
    request->response = NULL;
    return queued;
}

static void reply(http_request *request, int status, const char *content_type, void *body,
                  size_t length, enum MHD_ResponseMemoryMode mode) {
    struct MHD_Response *response = MHD_create_response_from_buffer(length, body, mode);
    if (response && content_type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    http_request_set_response(request, status, response);
    http_request_release(request);
}

void http_reply(http_request *request, int status, const char *content_type, const void *body,
                size_t length) {
    reply(request, status, content_type, (void *)body, length,
          length ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_PERSISTENT);
}

void http_reply_json(http_request *request, int status, json_t *value) {
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    json_decref(value);
    if (!text) {
        request->out_of_memory = true;
        http_request_set_response(request, status, NULL);
        http_request_release(request);
        return;
    }
    reply(request, status, "application/json", text, strlen(text), MHD_RESPMEM_MUST_FREE);
}
