/*
 * process_stream.h - a client that follows a process: a Connect stream of start, data, keepalive
 * and end events.
 *
 * A client that lags stops the reading of the process's output, so that memory stays bounded. When
 * others follow the process too and keep up, it has process_table_lag() to catch up; then its
 * stream ends with an error, and the others go on.
 */
#ifndef STEPBOX_PROCESS_STREAM_H
#define STEPBOX_PROCESS_STREAM_H

#include "process.h"

typedef struct process_stream_options {
    double keepalive; /* seconds of silence before a keepalive event */
    double timeout;   /* seconds after which the stream ends, not the process; 0: none */
    bool bound;       /* the process is killed when the stream ends before it */
} process_stream_options;

/* What the request's headers say: Keepalive-Ping-Interval and Stepbox-Bound. */
void process_stream_read_options(const http_request *request, process_stream_options *options);

/* Answers the request with a stream, beginning with the start event. -1 when out of memory; the
 * request is answered all the same. */
int process_stream_open(struct process *process, http_request *request,
                        const process_stream_options *options);

/* For all that follow the process: */
#define PROCESS_DATA_MAX (32 * 1024)
/* `kind` is "stdout", "stderr" or "pty"; at most PROCESS_DATA_MAX bytes. */
void process_streams_send_data(struct process *process, const char *kind,
                               const unsigned char *bytes, size_t length);
/* Whether somebody lags, so that no more should be read; more than half of the way to that. */
bool process_streams_lag(const struct process *process);
bool process_streams_lag_somewhat(const struct process *process);
/* Tells how it ended, and before that what the budget has dropped: a line on stderr, with the
 * numbers beside it. */
void process_streams_end(struct process *process);
void process_streams_cut(struct process *process);

#endif
