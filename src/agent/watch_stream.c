/*
 * watch_stream.c - WatchDir: the changes in a directory as a stream.
 *
 * A client that reads slowly holds the watch back when STREAM_MAX bytes wait for it; the stream
 * ends with an error when the kernel cannot keep the changes of that time.
 */
#include "filesystem_service.h"

#include "connect_messages.h"
#include "connect_stream.h"
#include "log.h"
#include "user.h"
#include "watch_call.h"

#include <stdlib.h>

#define STREAM_MAX ((size_t)4 * 1024 * 1024)

struct watch_stream {
    struct ev_loop *loop;
    http_request *request; /* until the stream begins */
    http_stream *stream;
    directory_watch *watch;
    bool failed; /* without memory for an event */
    struct ev_timer keepalive, timeout;
};

static void free_stream(struct watch_stream *stream) {
    ev_timer_stop(stream->loop, &stream->keepalive);
    ev_timer_stop(stream->loop, &stream->timeout);
    if (stream->watch)
        watch_free(stream->watch);
    free(stream);
}

/* Sends {name: value}; takes the reference. */
static void send(struct watch_stream *stream, const char *name, json_t *value) {
    if (connect_frame_send(stream->stream, 0, json_pack("{s:o}", name, value)) == 0) {
        ev_timer_again(stream->loop, &stream->keepalive);
        return;
    }
    /* The next turn of the timer cuts the stream, as the watch is in use now. */
    log_error("out of memory: a watch is cut");
    stream->failed = true;
    ev_timer_stop(stream->loop, &stream->timeout);
    ev_timer_set(&stream->timeout, 0.0, 0.0);
    ev_timer_start(stream->loop, &stream->timeout);
}

static void finish(struct watch_stream *stream, const char *code, const char *message) {
    http_request *request = stream->request;
    http_stream *http = stream->stream;
    bool failed = stream->failed;
    free_stream(stream);
    if (!http)
        connect_stream_error(request, code, message);
    else if (failed ||
             connect_frame_send(http, CONNECT_END,
                                json_pack("{s:o}", "error", connect_error(code, message))))
        http_stream_abort(http);
    else
        http_stream_end(http);
}

static void on_drain(void *user) {
    struct watch_stream *stream = user;
    watch_resume(stream->watch);
}

static void on_begun(void *user) {
    struct watch_stream *stream = user;
    stream->stream = http_stream_start(stream->request, 200, CONNECT_STREAM_TYPE);
    http_stream_on_drain(stream->stream, on_drain, stream);
    send(stream, "start", json_object());
}

static void on_event(void *user, json_t *event) {
    struct watch_stream *stream = user;
    send(stream, "filesystem", event);
    if (http_stream_pending(stream->stream) > STREAM_MAX)
        watch_pause(stream->watch);
}

static void on_end(void *user, const char *code, const char *message) {
    finish(user, code, message);
}

static void on_keepalive(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    send(timer->data, "keepalive", json_object());
}

static void on_timeout(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    finish(timer->data, "deadline_exceeded", "the time that was given for the watch is over");
}

static void on_gone(void *user) {
    struct watch_stream *stream = user;
    http_request *request = stream->request;
    http_stream *http = stream->stream;
    free_stream(stream);
    if (http)
        http_stream_abort(http);
    else
        http_reply(request, 204, NULL, NULL, 0); /* lets it go */
}

static void start(struct agent *agent, http_request *request, const json_t *message) {
    static const watch_listener listener = {on_begun, on_event, on_end};
    struct watch_stream *stream = calloc(1, sizeof *stream);
    double keepalive = connect_keepalive(request), timeout = connect_timeout(request);
    if (!stream) {
        connect_stream_error(request, "resource_exhausted", "out of memory");
        return;
    }
    stream->loop = http_request_loop(request);
    stream->request = request;
    ev_timer_init(&stream->keepalive, on_keepalive, keepalive, keepalive);
    ev_timer_init(&stream->timeout, on_timeout, timeout, 0.0);
    stream->keepalive.data = stream->timeout.data = stream;
    stream->watch =
        watch_call_start(agent, request, message, &listener, stream, connect_stream_error);
    if (!stream->watch) {
        free_stream(stream);
        return;
    }
    if (timeout > 0.0)
        ev_timer_start(stream->loop, &stream->timeout);
    http_request_on_gone(request, on_gone, stream);
}

void filesystem_watch_dir(struct agent *agent, http_request *request) {
    json_t *message = connect_stream_read(request);
    if (!message)
        return;
    if (user_of_request_enter(request))
        start(agent, request, message);
    else
        connect_stream_error(request, "unauthenticated", user_unknown());
    json_decref(message);
}
