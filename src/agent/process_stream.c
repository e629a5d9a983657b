/* process_stream.c - see process_stream.h */
#include "process_stream.h"

#include "base64_encode.h"
#include "connect_messages.h"
#include "connect_stream.h"
#include "log.h"
#include "process_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct process_stream {
    struct process_stream *next; /* of the same process */
    struct process *process;
    http_stream *http;
    bool bound;
    struct ev_timer keepalive, timeout, lag;
};

void process_stream_read_options(const http_request *request, process_stream_options *options) {
    const char *bound = http_request_header(request, "Stepbox-Bound");
    *options = (process_stream_options){.keepalive = connect_keepalive(request),
                                        .bound = bound && strcmp(bound, "1") == 0};
}

/* Takes the stream away from its process. Its http stream is the caller's then. */
static http_stream *detach(struct process_stream *stream) {
    struct process *process = stream->process;
    http_stream *http = stream->http;
    struct process_stream **at = &process->streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    ev_timer_stop(process->loop, &stream->keepalive);
    ev_timer_stop(process->loop, &stream->timeout);
    ev_timer_stop(process->loop, &stream->lag);
    free(stream);
    return http;
}

/* The same before the process has ended: it may have to die, or can be read again. */
static http_stream *leave(struct process_stream *stream) {
    struct process *process = stream->process;
    bool kill = stream->bound;
    http_stream *http = detach(stream);
    if (kill)
        process_kill(process);
    process_output_watch(process);
    return http;
}

static void on_client_gone(void *user) {
    http_stream_abort(leave(user));
}

static void on_client_ready(void *user) {
    struct process_stream *stream = user;
    ev_timer_stop(stream->process->loop, &stream->lag);
    process_output_watch(stream->process);
}

static bool lags(const struct process_stream *stream, size_t most) {
    return http_stream_pending(stream->http) > most;
}

static void on_keepalive(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct process_stream *stream = timer->data;
    if (!lags(stream, HTTP_STREAM_HIGH) &&
        connect_frame_send(stream->http, 0, json_pack("{s:{s:{}}}", "event", "keepalive")))
        log_error("out of memory: a keepalive was not sent");
}

static void on_timeout(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    process_end_send_error(leave(timer->data), "deadline_exceeded",
                           "the process has not ended in the time that the call had");
}

static void on_lag(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct process_stream *stream = timer->data;
    bool others_keep_up = false;
    for (const struct process_stream *other = stream->process->streams; other; other = other->next)
        others_keep_up |= !lags(other, HTTP_STREAM_HIGH / 2);
    if (others_keep_up)
        process_end_send_error(leave(stream), "resource_exhausted",
                               "the client reads too slowly, and others wait for it");
}

static void init_timer(struct process_stream *stream, struct ev_timer *timer,
                       void (*fn)(struct ev_loop *, struct ev_timer *, int), double seconds,
                       double repeat) {
    ev_timer_init(timer, fn, seconds, repeat);
    timer->data = stream;
}

int process_stream_open(struct process *process, http_request *request,
                        const process_stream_options *options) {
    struct process_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        connect_stream_error(request, "resource_exhausted", "out of memory");
        return -1;
    }
    double lag = process_table_lag(process->table);
    stream->process = process;
    stream->bound = options->bound;
    init_timer(stream, &stream->keepalive, on_keepalive, options->keepalive, options->keepalive);
    init_timer(stream, &stream->timeout, on_timeout, options->timeout, 0.0);
    init_timer(stream, &stream->lag, on_lag, lag, lag);
    http_request_on_gone(request, on_client_gone, stream);
    stream->http = http_stream_start(request, 200, CONNECT_STREAM_TYPE);
    http_stream_on_drain(stream->http, on_client_ready, stream);
    stream->next = process->streams;
    process->streams = stream;
    ev_timer_again(process->loop, &stream->keepalive);
    if (options->timeout > 0.0)
        ev_timer_start(process->loop, &stream->timeout);
    if (process_end_send_start(stream->http, process->end.pid) == 0)
        return 0;
    http_stream_abort(leave(stream));
    return -1;
}

/* Makes the frame of a data event: {"event":{"data":{kind:base64}}}. Its length is returned. */
#define FRAME_HEAD 5
#define FRAME_TEXT_MAX 64
static size_t make_data_frame(char *frame, const char *kind, const unsigned char *bytes,
                              size_t length) {
    char *to = stpcpy(frame + FRAME_HEAD, "{\"event\":{\"data\":{\"");
    to = stpcpy(stpcpy(to, kind), "\":\"");
    base64_encode(bytes, length, to);
    to = stpcpy(to + BASE64_SIZE(length), "\"}}}");
    size_t message = (size_t)(to - frame) - FRAME_HEAD;
    frame[0] = 0;
    for (int i = 1; i < FRAME_HEAD; i++)
        frame[i] = (char)(message >> 8 * (FRAME_HEAD - 1 - i) & 0xff);
    return message + FRAME_HEAD;
}

void process_streams_send_data(struct process *process, const char *kind,
                               const unsigned char *bytes, size_t length) {
    static char frame[FRAME_HEAD + FRAME_TEXT_MAX + BASE64_SIZE(PROCESS_DATA_MAX)];
    if (!process->streams)
        return;
    size_t size = make_data_frame(frame, kind, bytes, length);
    for (struct process_stream *stream = process->streams; stream; stream = stream->next) {
        http_stream_write(stream->http, frame, size);
        ev_timer_again(process->loop, &stream->keepalive);
        if (lags(stream, HTTP_STREAM_HIGH) && !ev_is_active(&stream->lag))
            ev_timer_again(process->loop, &stream->lag);
    }
}

/* {"event":{"data":{"stderr":base64,"dropped":{...}}}}. NULL when out of memory. */
static json_t *make_dropped(const output_budget *budget) {
    char text[OUTPUT_BUDGET_TEXT], line[OUTPUT_BUDGET_TEXT + 20], encoded[BASE64_SIZE(sizeof line)];
    output_budget_tell(budget, "command", text);
    int length =
        snprintf(line, sizeof line, "%s[stepbox: %s]\n", budget->mid_line ? "\n" : "", text);
    base64_encode((const unsigned char *)line, (size_t)length, encoded);
    return json_pack("{s:{s:{s:s%, s:{s:I, s:I}}}}", "event", "data", "stderr", encoded,
                     BASE64_SIZE((size_t)length), "dropped", "stdout",
                     (json_int_t)budget->dropped[OUTPUT_BUDGET_STDOUT], "stderr",
                     (json_int_t)budget->dropped[OUTPUT_BUDGET_STDERR]);
}

static void send_dropped(struct process *process) {
    for (struct process_stream *stream = process->streams; stream; stream = stream->next) {
        if (connect_frame_send(stream->http, 0, make_dropped(&process->budget)))
            log_error("out of memory: a client was not told what was dropped");
    }
}

static bool any_lags(const struct process *process, size_t most) {
    for (const struct process_stream *stream = process->streams; stream; stream = stream->next) {
        if (lags(stream, most))
            return true;
    }
    return false;
}

bool process_streams_lag(const struct process *process) {
    return any_lags(process, HTTP_STREAM_HIGH);
}

bool process_streams_lag_somewhat(const struct process *process) {
    return any_lags(process, HTTP_STREAM_HIGH / 2);
}

void process_streams_end(struct process *process) {
    if (output_budget_is_over(&process->budget))
        send_dropped(process);
    while (process->streams)
        process_end_send(detach(process->streams), &process->end);
}

void process_streams_cut(struct process *process) {
    while (process->streams)
        http_stream_abort(detach(process->streams));
}
