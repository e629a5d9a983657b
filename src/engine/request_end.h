/*
 * request_end.h - finds where the first request on a connection ends.
 *
 * A connection is given to a sandbox as a whole, once. Clients that name the sandbox in a header
 * use one connection for several sandboxes and for the control plane; their next request, with its
 * keys, must never reach a sandbox that kept the connection open. So the gateway passes only the
 * first request on.
 */
#ifndef STEPBOX_REQUEST_END_H
#define STEPBOX_REQUEST_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route.h"

struct request_end {
    int state;
    uint64_t left;      /* bytes of the body, or of the current chunk */
    size_t line_length; /* of the chunk-size or trailer line so far */
    bool after_cr;      /* within such a line */
};

/* For the body that the head announced. */
void request_end_init(struct request_end *end, const struct route *route);

/* How many of these bytes of the body belong to the request; once fewer than length, all that
 * follow do not. A chunked body that is wrong ends there. */
size_t request_end_feed(struct request_end *end, const char *bytes, size_t length);

#endif
