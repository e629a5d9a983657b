/*
 * http_internal.h - what the parts of the HTTP server share: http_server.c (connections, the loop),
 * http_request.c (requests, plain answers), http_fields.c (what heads say), http_body.c (bodies of
 * requests), http_stream.c (streamed answers), http_content.c (answers that are fetched).
 *
 * A request has two holders: libmicrohttpd, until the exchange is complete or the connection broke,
 * and the handler, until it has answered. It is freed when both have let go. While the handler has
 * not answered, or takes no more of a body, or a stream has nothing to send, the connection is
 * suspended.
 */
#ifndef STEPBOX_HTTP_INTERNAL_H
#define STEPBOX_HTTP_INTERNAL_H

#include "http_server.h"

#include <microhttpd.h>

struct http_connection {
    struct http_connection *next;
    int fd;
    void *tag;
    http_request *request; /* that has begun and is not over, or NULL */
    bool served;           /* one before */
};

struct http_server {
    struct ev_loop *loop;
    struct MHD_Daemon *daemon;
    http_handler *handler;
    http_head_handler *on_head; /* or NULL */
    void *user;
    size_t max_body;
    struct http_connection *connections;
    http_request *requests; /* all that libmicrohttpd still holds */
    struct ev_io epoll_io;
    struct ev_timer timer; /* libmicrohttpd's next time-out */
    struct ev_idle work;  /* never started, only fed: runs libmicrohttpd after all else of a turn */
    bool due;             /* libmicrohttpd has something to do */
    bool running;         /* and does it */
    struct ev_timer look; /* for ends that it has not noticed, some time after it did something */
    bool look_due;
};

struct http_header {
    struct http_header *next;
    char *name; /* name and value are one allocation */
    char *value;
};

struct http_stream {
    http_request *request;
    char *bytes;
    size_t start, end, capacity; /* bytes[start..end) wait to be sent */
    void (*on_drain)(void *user);
    void *drain_user;
    bool was_high;
    bool ended;
    bool broken; /* to be cut instead of ended */
};

struct http_request {
    http_server *server; /* NULL like conn */
    struct ev_loop *loop;
    struct MHD_Connection *conn; /* NULL when libmicrohttpd has let go */
    http_request *next, *previous;
    char *method, *path;
    void *tag;
    int fd;
    struct http_connection *from; /* while there is a conn */

    char *body;
    size_t body_length, body_capacity;
    size_t discarded; /* bytes of a body that is too large */
    bool too_large;
    bool from_stranger;   /* whose long body is not waited for */
    bool body_is_nothing; /* to the method: what is sent is not kept */
    bool out_of_memory;

    http_body sink; /* of a streamed body */
    void *sink_user;
    bool streams_body; /* until its end, or the answer */
    bool body_again;   /* http_body_resume() was called */
    bool complete;     /* libmicrohttpd waits for nothing more of the request */

    bool held;      /* the handler has been called and has not answered */
    bool suspended; /* libmicrohttpd does not look at the connection */
    bool gone;      /* the client went away */
    struct MHD_Response *response;
    int status;
    struct http_header *headers;
    struct http_stream stream;
    bool streaming; /* the answer has no time-out */

    struct ev_io peek;      /* notices the end of the connection */
    struct ev_timer hangup; /* the same when pipelined bytes hide the end */
    void (*on_gone)(void *user);
    void *gone_user;
};

/* Has libmicrohttpd looked at its connections before the loop sleeps next. */
void http_server_due(http_server *server);

http_request *http_request_new(http_server *server, struct MHD_Connection *conn, const char *method,
                               const char *path, struct http_connection *from);
/* The head has arrived. */
enum MHD_Result http_body_begin(http_request *request);
/* A piece of the body has arrived; what is not taken stays in *length. */
enum MHD_Result http_body_take(http_request *request, const char *bytes, size_t *length);
/* The body is complete; false when it was refused. */
bool http_body_end(http_request *request);
/* Answers a request whose body was refused. */
enum MHD_Result http_body_refuse(http_request *request);
/* Hands the answer that was made to libmicrohttpd. */
enum MHD_Result http_request_queue(http_request *request);
/* libmicrohttpd lets go of the request; `complete` when the whole answer was sent. */
void http_request_complete(http_request *request, bool complete);
/* Notices from now on when the client leaves. */
void http_request_watch(http_request *request);
void http_request_stop_watching(http_request *request);
void http_request_suspend(http_request *request);
void http_request_resume(http_request *request);
/* The response (created from the request's headers) to queue; NULL when it cannot be made. */
void http_request_set_response(http_request *request, int status, struct MHD_Response *response);
/* The handler lets go of the request. */
void http_request_release(http_request *request);

#endif
