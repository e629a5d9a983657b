/*
 * sandbox.h - the control plane's calls that several files need.
 */
#ifndef STEPBOX_CORE_SANDBOX_H
#define STEPBOX_CORE_SANDBOX_H

#include "exchange.h"

#include <jansson.h>

/* Seconds for the wire: rounded up. -1 with SB_INVALID when negative, no number, or beyond an
 * int32. */
int sbi_wire_seconds(double seconds, const char *name, json_int_t *whole, sb_error *err);

/* Pairs as an object of strings, a new reference; NULL with SB_INVALID when one is no UTF-8 or has
 * no name, SB_SYSTEM without memory. */
json_t *sbi_pairs_to_json(const sb_pair *pairs, size_t count, const char *name, sb_error *err);

/* Adds a string to an object, unless it is NULL. -1 with SB_INVALID when it is no UTF-8. */
int sbi_json_add_string(json_t *object, const char *name, const char *value, sb_error *err);

/* -1 with SB_INVALID unless id may be one. */
int sbi_check_id(const char *id, sb_error *err);

/* Sends op's request when describing it went well (0), else frees op and returns NULL. */
sb_op *sbi_send_or_drop(sb_op *op, int described);

/* request_timeout of an operation: 0 is the client's. */
int sbi_request_timeout(struct sbi_exchange *exchange, double timeout, sb_error *err);

#endif
