/* output_pieces.c - builds each event in place: its head, the encoded text, and a tail with the
 * time. */
#include "output_pieces.h"

#include "event_time.h"

#include <stdio.h>
#include <string.h>

#define JOIN_SECONDS 0.002
#define TAIL_MAX 80 /* `", "timestamp": "..."}` and the newline */

static const char *const heads[OUTPUT_STREAMS] = {
    [OUTPUT_STDOUT] = "{\"type\": \"stdout\", \"text\": \"",
    [OUTPUT_STDERR] = "{\"type\": \"stderr\", \"text\": \"",
};

static void on_timer(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    output_pieces_flush(timer->data);
}

void output_pieces_init(output_pieces *pieces, struct ev_loop *loop,
                        void (*write)(void *user, const char *line, size_t length), void *user) {
    pieces->loop = loop;
    pieces->write = write;
    pieces->user = user;
    pieces->flushed = 0.0;
    pieces->length = 0;
    memset(pieces->encoders, 0, sizeof pieces->encoders);
    ev_timer_init(&pieces->timer, on_timer, 0.0, 0.0);
    pieces->timer.data = pieces;
}

static void begin(output_pieces *pieces, int stream) {
    pieces->stream = stream;
    pieces->length = strlen(heads[stream]);
    memcpy(pieces->line, heads[stream], pieces->length);
}

void output_pieces_flush(output_pieces *pieces) {
    ev_timer_stop(pieces->loop, &pieces->timer);
    if (!pieces->length)
        return;
    size_t length = pieces->length;
    pieces->length = 0;
    if (length == strlen(heads[pieces->stream]))
        return; /* not one whole character */
    char now[EVENT_TIME_SIZE];
    event_time_now(now);
    length +=
        (size_t)snprintf(pieces->line + length, TAIL_MAX, "\", \"timestamp\": \"%s\"}\n", now);
    pieces->flushed = ev_now(pieces->loop);
    pieces->write(pieces->user, pieces->line, length);
}

void output_pieces_add(output_pieces *pieces, int stream, const char *bytes, size_t length) {
    if (pieces->length && pieces->stream != stream)
        output_pieces_flush(pieces);
    while (length) {
        if (!pieces->length)
            begin(pieces, stream);
        size_t room = sizeof pieces->line - TAIL_MAX - OUTPUT_ENCODER_MAX - pieces->length;
        size_t taken = output_encode(&pieces->encoders[stream], bytes, length,
                                     pieces->line + pieces->length, room, &pieces->length);
        bytes += taken;
        length -= taken;
        if (length)
            output_pieces_flush(pieces);
    }
    if (!pieces->length || ev_is_active(&pieces->timer))
        return;
    if (ev_now(pieces->loop) - pieces->flushed >= JOIN_SECONDS) {
        output_pieces_flush(pieces);
    } else {
        ev_timer_set(&pieces->timer, JOIN_SECONDS, 0.0);
        ev_timer_start(pieces->loop, &pieces->timer);
    }
}

static void end_stream(output_pieces *pieces, int stream) {
    if (!pieces->encoders[stream].missing)
        return;
    if (pieces->length && pieces->stream != stream)
        output_pieces_flush(pieces);
    if (!pieces->length)
        begin(pieces, stream);
    pieces->length += output_encode_end(&pieces->encoders[stream], pieces->line + pieces->length);
}

void output_pieces_end(output_pieces *pieces) {
    int first = pieces->length ? pieces->stream : OUTPUT_STDOUT;
    end_stream(pieces, first);
    end_stream(pieces, first == OUTPUT_STDOUT ? OUTPUT_STDERR : OUTPUT_STDOUT);
    output_pieces_flush(pieces);
}

void output_pieces_drop(output_pieces *pieces) {
    ev_timer_stop(pieces->loop, &pieces->timer);
    pieces->length = 0;
    pieces->flushed = 0.0;
    memset(pieces->encoders, 0, sizeof pieces->encoders);
}
