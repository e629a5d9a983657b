/*
 * rpc.h - calls of the Connect protocol, in JSON, to what serves processes and files in a sandbox
 * (port 49983). Streams of answers are in rpc_stream.h.
 */
#ifndef STEPBOX_CORE_RPC_H
#define STEPBOX_CORE_RPC_H

#include "box.h"
#include "exchange.h"

#include <jansson.h>

/* The headers of each call: the protocol's, and `user` (NULL: the sandbox's default user, who has
 * to be named to servers before version 0.4.0). -1 with SB_INVALID when user cannot be a name. */
int sbi_rpc_headers(struct sbi_exchange *exchange, const struct sbi_address *address,
                    const char *user, sb_error *err);

/* Describes a unary call. path is "/process.Process/List". Takes the reference to message, which
 * may be NULL for lack of memory or because a string in it was no UTF-8. */
int sbi_rpc_request(struct sbi_exchange *exchange, const struct sbi_address *address,
                    const char *user, const char *path, json_t *message, sb_error *err);

/* The same with a message that is JSON text already, malloc()ed and taken over, of which jansson
 * would make too many copies; NULL: there was no memory for it. */
int sbi_rpc_request_text(struct sbi_exchange *exchange, const struct sbi_address *address,
                         const char *user, const char *path, char *message, size_t length,
                         sb_error *err);

/* sbi_rpc_request() for op's exchange, on its way; `done` gets op. Returns op, or NULL with err (op
 * is freed then). Takes the reference to message. */
sb_op *sbi_rpc_start(sb_op *op, sb_box *box, const char *user, const char *path, json_t *message,
                     void (*done)(void *op, struct sbi_exchange *exchange), sb_error *err);

/* After a unary call: its answer, an object, as a new reference; or NULL with err. `missing` is
 * what the service's own not_found means (SB_NOT_FOUND, SB_PROCESS_GONE): that there is no such
 * sandbox any more is told by the proxy before it, and is SB_NOT_FOUND or SB_SANDBOX_LOST. */
json_t *sbi_rpc_answer(const struct sbi_exchange *exchange, sb_code missing, sb_error *err);

/* 0 when the exchange brought a 2xx, else -1 with what failed, as above. */
int sbi_rpc_check(const struct sbi_exchange *exchange, sb_code missing, sb_error *err);

/* True when the answer is an error of the service itself with this code ("not_found"). */
bool sbi_rpc_says(const struct sbi_exchange *exchange, const char *code);

/* Fills err from an error object {code, message} of the protocol, always -1. */
int sbi_rpc_fail(const json_t *error, int status, sb_code missing, sb_error *err);

/* The kind of failure that the text of an operating system's error in a message stands for ("no
 * space left on device"), else `otherwise`. */
sb_code sbi_code_by_text(const char *message, sb_code otherwise);

#endif
