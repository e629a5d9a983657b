/*
 * output_pieces.h - joins what code writes into stdout and stderr events of a step.
 *
 * What comes after a silence leaves at once; what follows is joined for JOIN_SECONDS at most, or
 * until an event is full. The order of the two streams is kept.
 */
#ifndef STEPBOX_OUTPUT_PIECES_H
#define STEPBOX_OUTPUT_PIECES_H

#include "output_encoder.h"

#include <ev.h>

/* Bytes of an event line at most. Readers that rescan what they have of a line are fastest so. */
#define OUTPUT_EVENT_MAX (64 * 1024)

enum { OUTPUT_STDOUT, OUTPUT_STDERR, OUTPUT_STREAMS };

typedef struct output_pieces {
    struct ev_loop *loop;
    void (*write)(void *user, const char *line, size_t length);
    void *user;
    struct ev_timer timer;
    ev_tstamp flushed; /* when the latest event left */
    output_encoder encoders[OUTPUT_STREAMS];
    int stream;    /* of what is in `line` */
    size_t length; /* 0: nothing waits */
    char line[OUTPUT_EVENT_MAX];
} output_pieces;

/* write is called with whole lines, the newline included. */
void output_pieces_init(output_pieces *pieces, struct ev_loop *loop,
                        void (*write)(void *user, const char *line, size_t length), void *user);
void output_pieces_add(output_pieces *pieces, int stream, const char *bytes, size_t length);
/* Writes what waits. An incomplete character goes on waiting. */
void output_pieces_flush(output_pieces *pieces);
/* Writes all that waits, incomplete characters too. */
void output_pieces_end(output_pieces *pieces);
/* Forgets what waits. */
void output_pieces_drop(output_pieces *pieces);

#endif
