/*
 * init_exchange.h - the one HTTP exchange in which the engine configures a new sandbox's agent:
 * POST /init.
 */
#ifndef STEPBOX_INIT_EXCHANGE_H
#define STEPBOX_INIT_EXCHANGE_H

#include <ev.h>
#include <stddef.h>

struct init_exchange;

/* status: the answer's HTTP status; -1 when the connection broke before one came, or it was not
 * HTTP. */
typedef void init_exchange_done(int status, void *user);

/* Sends the JSON body (copied) on fd, a connected non-blocking socket that this closes, and calls
 * done once, later; the exchange is freed before. NULL when out of memory (fd is closed then too).
 */
struct init_exchange *init_exchange_start(struct ev_loop *loop, int fd, const char *body,
                                          size_t length, init_exchange_done *done, void *user);

/* Gives up without calling done. */
void init_exchange_cancel(struct init_exchange *exchange);

#endif
