/* http_body.c - the bodies of requests: gathered for the handler, or streamed to whom the head
 * handler names. */
#include "http_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum MHD_Result http_body_refuse(http_request *request) {
    request->complete = true;
    if (request->out_of_memory)
        return MHD_NO;
    static const char text[] = "{\"code\":413,\"message\":\"the request body is too large\"}";
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof text - 1, (void *)text, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    enum MHD_Result queued =
        MHD_queue_response(request->conn, MHD_HTTP_CONTENT_TOO_LARGE, response);
    MHD_destroy_response(response);
    return queued;
}

/* A client that waits for "100 Continue" has sent nothing of its body yet, and need not. */
static bool waits_to_send(const http_request *request) {
    const char *expect = http_request_header(request, MHD_HTTP_HEADER_EXPECT);
    return expect && strcasecmp(expect, "100-continue") == 0;
}

/* A shorter body of a stranger's is read and dropped, and the connection can be used again. */
#define WORTH_BREAKING_OFF ((size_t)64 * 1024)

static bool is_broken_off(const http_request *request) {
    const char *length = http_request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return request->from_stranger && length && strtoull(length, NULL, 10) > WORTH_BREAKING_OFF;
}

/* A body that is announced as much too large is refused before it is sent; a slightly too large one
 * is read to its end, so that the client is sure to see the answer. */
enum MHD_Result http_body_begin(http_request *request) {
    http_server *server = request->server;
    if (server->on_head) {
        request->held = true;
        server->on_head(request, server->user);
        request->complete = request->status && (waits_to_send(request) || is_broken_off(request));
        if (request->status)
            return request->complete ? http_request_queue(request) : MHD_YES;
        if (request->streams_body)
            return MHD_YES;
        request->held = false;
    }
    const char *length = http_request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (length && strtoull(length, NULL, 10) / 2 > server->max_body)
        return http_body_refuse(request);
    return MHD_YES;
}

/* Appends to the body, or marks the request as too large or out of memory. */
static void append(http_request *request, const char *bytes, size_t length) {
    size_t max = request->server->max_body;
    if (request->too_large || length > max - request->body_length) {
        request->too_large = true;
        request->discarded += length;
        free(request->body);
        request->body = NULL;
        request->body_length = request->body_capacity = 0;
        return;
    }
    size_t need = request->body_length + length + 1;
    if (need > request->body_capacity) {
        size_t capacity = request->body_capacity ? request->body_capacity * 2 : 1024;
        if (capacity < need)
            capacity = need;
        char *grown = realloc(request->body, capacity);
        if (!grown) {
            request->out_of_memory = true;
            return;
        }
        request->body = grown;
        request->body_capacity = capacity;
    }
    memcpy(request->body + request->body_length, bytes, length);
    request->body_length += length;
    request->body[request->body_length] = '\0';
}

/* Suspends the connection when the sink does not take everything: libmicrohttpd then keeps what is
 * left, reads no more than its buffer holds, and passes it again after the resumption. */
static void stream(http_request *request, const char *bytes, size_t *length) {
    size_t taken = 0;
    do {
        request->body_again = false;
        taken += request->sink.data(request->sink_user, bytes + taken, *length - taken);
    } while (taken < *length && request->streams_body && request->body_again);
    *length = request->streams_body ? *length - taken : 0;
    if (*length)
        http_request_suspend(request);
}

enum MHD_Result http_body_take(http_request *request, const char *bytes, size_t *length) {
    if (request->gone)
        return MHD_NO;
    if (request->streams_body) {
        stream(request, bytes, length);
        return MHD_YES;
    }
    if (!request->status && !request->body_is_nothing) /* otherwise the body is dropped */
        append(request, bytes, *length);
    *length = 0;
    return request->out_of_memory || request->discarded > request->server->max_body ? MHD_NO
                                                                                    : MHD_YES;
}

bool http_body_end(http_request *request) {
    request->complete = true;
    if (request->streams_body) {
        request->streams_body = false;
        request->sink.end(request->sink_user);
    }
    return request->status || (!request->too_large && !request->out_of_memory);
}

void http_request_stream_body(http_request *request, const http_body *body, void *user) {
    request->sink = *body;
    request->sink_user = user;
    request->streams_body = !request->status;
}

void http_body_resume(http_request *request) {
    if (!request->streams_body)
        return;
    request->body_again = true;
    if (!request->gone)
        http_request_stop_watching(request); /* libmicrohttpd itself looks now */
    http_request_resume(request);
}
