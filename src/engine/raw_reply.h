/*
 * raw_reply.h - answers that the gateway gives by itself, as bytes.
 */
#ifndef STEPBOX_RAW_REPLY_H
#define STEPBOX_RAW_REPLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "route.h"

#define RAW_REPLY_SIZE 1024

/* Writes a whole answer that closes the connection, with a JSON body (its reference is taken), to
 * out. Returns its length; 0 when that was not possible. */
size_t raw_reply(char out[RAW_REPLY_SIZE], int status, json_t *body);

/* {"code": status, "message": message} */
size_t raw_reply_error(char out[RAW_REPLY_SIZE], int status, const char *message);

/* 502, as the official gateway answers for sandboxes that are not there and for ports that nobody
 * serves. */
size_t raw_reply_bad_gateway(char out[RAW_REPLY_SIZE], const struct route *route,
                             bool sandbox_is_there);

/* 403 for traffic without the token of a sandbox that wants one; `given`: with a wrong one. */
size_t raw_reply_no_traffic(char out[RAW_REPLY_SIZE], const struct route *route, bool given);

/* 502 for a sandbox that is paused and that traffic does not resume. */
size_t raw_reply_paused(char out[RAW_REPLY_SIZE], const struct route *route);

#endif
