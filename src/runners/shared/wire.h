/*
 * wire.h - the runner's end of the channel to the agent: lines on a stream socket.
 */
#ifndef STEPBOX_RUNNER_WIRE_H
#define STEPBOX_RUNNER_WIRE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest line taken. The agent sends none that is longer. */
#define WIRE_LINE_MAX ((size_t)64 * 1024 * 1024)

struct wire {
    int fd;
    char *bytes; /* bytes[taken..length) has come and was not taken */
    size_t taken, length, room;
    size_t scanned; /* no newline before it */
};

/* Takes the descriptor over: to a high number that code does not hit by chance, closed on exec. 0,
 * or -1 with errno. */
int wire_open(struct wire *wire, int fd);

/* Reads once, waiting for bytes. False when the agent has gone, or sent too long a line. */
bool wire_fill(struct wire *wire);
/* The next whole line that has come, ended by NUL instead of its newline, until the next call of
 * any function; NULL when there is none. */
char *wire_next(struct wire *wire, size_t *length);

/* Sends all of it. An agent that has gone is found when it is read from. */
void wire_send(const struct wire *wire, const char *bytes, size_t length);

#endif
