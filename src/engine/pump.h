/*
 * pump.h - passes bytes between a client's connection and the socket pair whose other end the
 * target has.
 *
 * 64 KiB at most wait in each direction; then the sender is not read until they are gone. The end
 * of one side's stream is passed on at once. When the client is gone so is the target's connection,
 * at once. When the target's stream has ended and is delivered, the client's connection is given
 * back, to be closed properly.
 */
#ifndef STEPBOX_PUMP_H
#define STEPBOX_PUMP_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>

#include "request_end.h"

struct pump;

/* The pump has ended and is freed. client_fd is the callee's, or -1 when the client is gone.
 * `silent`: the target ended without having sent a byte. */
typedef void pump_done(int client_fd, bool silent, void *user);

typedef struct pump_config {
    struct ev_loop *loop;
    int client_fd, target_fd; /* connected, non-blocking; taken, also on failure */
    const char *first;        /* what has been read from the client already; copied */
    size_t first_length;
    size_t head_length; /* of the first request, for one_request */
    const struct request_end
        *limit;      /* copied: pass on only the head and this body; NULL: everything */
    pump_done *done; /* called later, once; not after pump_stop() */
    void *user;
} pump_config;

/* NULL when out of memory. */
struct pump *pump_start(const pump_config *config);

/* Breaks both connections. */
void pump_stop(struct pump *pump);

#endif
