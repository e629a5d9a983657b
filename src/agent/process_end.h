/*
 * process_end.h - how a process ended, and telling it.
 */
#ifndef STEPBOX_PROCESS_END_H
#define STEPBOX_PROCESS_END_H

#include "http_server.h"

#include <sys/types.h>

typedef struct process_end {
    pid_t pid;
    int status; /* of wait(2) */
    bool late;  /* it was killed for its deadline */
} process_end;

/* Sends the event that a process has started. -1 when out of memory. */
int process_end_send_start(http_stream *stream, pid_t pid);
/* Sends the end event, or the error that the deadline passed, and ends the stream. */
void process_end_send(http_stream *stream, const process_end *end);
/* Ends the stream with an error. */
void process_end_send_error(http_stream *stream, const char *code, const char *message);

#endif
