/*
 * http_server.h - an HTTP/1.1 server on libmicrohttpd inside a libev loop, shared by engine and
 * agent.
 *
 * It has no listening socket: connected sockets are handed to it. A handler may answer at once or
 * later; until it does, the connection is suspended. Single-threaded: everything happens in the
 * loop's thread.
 */
#ifndef STEPBOX_HTTP_SERVER_H
#define STEPBOX_HTTP_SERVER_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct http_server http_server;
typedef struct http_request http_request;

/* Called once per request, when its body is complete (or refused: too large gets 413 without a
 * call). Must lead to exactly one of the http_reply*() calls or http_stream_start(), now or later.
 */
typedef void http_handler(http_request *request, void *user);

/* Called at each request's head, before its body. It may have the body streamed, or answer at once
 * (a body is then dropped); when it does neither, the handler above gets the request with its whole
 * body. */
typedef void http_head_handler(http_request *request, void *user);

/* max_body: bytes of request body kept, more is answered 413. NULL when out of memory. */
http_server *http_server_new(struct ev_loop *loop, http_handler *handler, void *user,
                             size_t max_body);
void http_server_free(http_server *server);
/* The head handler is given the same user as the handler. */
void http_server_on_head(http_server *server, http_head_handler *fn);

/* *heard becomes true when something has come on a connection that was not taken yet, *under_way
 * when a request is not answered yet. */
void http_server_traffic(const http_server *server, bool *heard, bool *under_way);
/* Closes connections that clients keep open for another request, of which nothing has come. */
void http_server_close_idle(http_server *server);
/* This process stood still for a while, which shall not count as time without a byte. */
void http_server_woke(http_server *server);

/* Serves requests on a connected stream socket; takes the descriptor (closed also on failure).
 * `tag` is kept for http_request_tag(). Returns 0 or -1. */
int http_server_add(http_server *server, int fd, void *tag);

const char *http_request_method(const http_request *request);
const char *http_request_path(const http_request *request); /* percent-decoded, without the query */
/* The query parameter, percent-decoded, or NULL. */
const char *http_request_query(const http_request *request, const char *name);
/* Called for each query parameter (value "" when it has none), or for each header. */
typedef void http_each(const char *name, const char *value, void *user);
void http_request_each_query(http_request *request, http_each *fn, void *user);
void http_request_each_header(http_request *request, http_each *fn, void *user);
const char *http_request_header(const http_request *request, const char *name);
const char *http_request_body(const http_request *request,
                              size_t *length); /* NUL-terminated behind it */

/* A body that is taken piece by piece, however long it is. */
typedef struct http_body {
    /* Takes bytes and returns how many, all or fewer: then the client is held back until
     * http_body_resume(), and gets no time-out meanwhile. */
    size_t (*data)(void *user, const char *bytes, size_t length);
    /* The body is complete. The handler of the server is not called. */
    void (*end)(void *user);
} http_body;
/* Only from the head handler. The request is then held like one that a handler was called for: it
 * must be answered, also after http_request_on_gone() told that the client left in the middle. What
 * is answered before the end is sent when the rest of the body was read and dropped; neither
 * function is called after the answer. */
void http_request_stream_body(http_request *request, const http_body *body, void *user);
/* Has data() called again with what it left, later or, when called inside of it, at once. */
void http_body_resume(http_request *request);

void *http_request_tag(const http_request *request);
struct ev_loop *http_request_loop(const http_request *request);

/* Called when the client went away before the answer was complete. Afterwards the request may still
 * be answered (the answer is dropped); set it for work that should stop. NULL unsets. */
void http_request_on_gone(http_request *request, void (*fn)(void *user), void *user);

/* Adds a header to the coming answer. Call before replying. */
void http_reply_header(http_request *request, const char *name, const char *value);
/* The answer, given at the head, is for somebody who may not ask: a long body is not waited for.
 * Its sender may then see no more than the end of the connection. */
void http_reply_to_stranger(http_request *request);
/* Closes the connection after the answer. */
void http_reply_close(http_request *request);
/* Replies take no ownership of bytes; http_reply_json() takes the reference to value. content_type
 * NULL: no such header. */
void http_reply(http_request *request, int status, const char *content_type, const void *body,
                size_t length);
void http_reply_json(http_request *request, int status, json_t *value);

/* An answer whose bytes are fetched as the client takes them, with little memory. */
typedef struct http_content {
    /* Puts up to max bytes; returns how many, 0 at the end. -1, or an end before the length that
     * was announced, cuts the connection. Must not block. */
    ssize_t (*read)(void *user, char *to, size_t max);
    /* Nothing is read any more: the answer was sent, or cannot be, or the client left. */
    void (*free)(void *user);
} http_content;
#define HTTP_LENGTH_UNKNOWN UINT64_MAX
/* length: of the body; unknown, it is sent in chunks. */
void http_reply_content(http_request *request, int status, const char *content_type,
                        const http_content *content, void *user, uint64_t length);
/* The bytes of a file from the offset on; takes the descriptor. A file that has become shorter
 * meanwhile cuts the connection. */
void http_reply_file(http_request *request, int status, const char *content_type, int fd,
                     uint64_t offset, uint64_t length);

/* A streamed answer, chunked. Bytes are copied to a buffer; http_stream_pending() says how many
 * wait. on_drain, when set, is called when the buffer has fallen below half of HTTP_STREAM_HIGH
 * after being above it. After the client is gone writes are dropped (and on_gone was called). */
#define HTTP_STREAM_HIGH (256 * 1024)
typedef struct http_stream http_stream;
http_stream *http_stream_start(http_request *request, int status, const char *content_type);
void http_stream_on_drain(http_stream *stream, void (*fn)(void *user), void *user);
void http_stream_write(http_stream *stream, const void *bytes, size_t length);
size_t http_stream_pending(const http_stream *stream);
/* Ends the stream properly; the handle is gone afterwards. */
void http_stream_end(http_stream *stream);
/* Breaks the connection without the final chunk, so that the client sees a cut. */
void http_stream_abort(http_stream *stream);

#endif
