/*
 * outbox.h - messages on their way to a runner: lines of JSON, as fast as its socket takes them.
 */
#ifndef STEPBOX_OUTBOX_H
#define STEPBOX_OUTBOX_H

#include <ev.h>
#include <jansson.h>
#include <stddef.h>

struct outbox {
    struct ev_loop *loop;
    struct ev_io writable; /* its fd is the socket, -1: there is none (yet, or any more) */
    char *bytes;           /* bytes[sent..length) waits to be sent */
    size_t sent, length;
};

void outbox_init(struct outbox *outbox, struct ev_loop *loop);
/* The socket stays the caller's, who closes the outbox first. */
void outbox_open(struct outbox *outbox, int fd);
/* Takes the reference to the message, which may be NULL as jansson gives it when out of memory.
 * 0, or -1 when out of memory. */
int outbox_send(struct outbox *outbox, json_t *message);
/* What waits is dropped. */
void outbox_close(struct outbox *outbox);

#endif
