/*
 * creation.h - a sandbox that is being made, and the requests that wait for it: one, or several
 * that were sent under the same key (idempotency.h).
 */
#ifndef STEPBOX_CREATION_H
#define STEPBOX_CREATION_H

#include "control_plane.h"

/* Answers the request when the sandbox is ready, or could not be made. key: NULL when the client
 * has sent none. */
void creation_begin(const struct api_call *call, const sandbox_request *wanted, const char *key,
                    json_t *body);

/* The same for a request whose key is known: as the first one's. */
void creation_join(const struct api_call *call, struct keyed_create *known);

#endif
