/*
 * engine_start.h - starts the local engine for requests that found none.
 *
 * Nothing blocks: stepboxd tells over a pipe when it serves, and the loop reads that pipe. Requests
 * of one loop that wait for the same socket share one start; engines started at the same moment by
 * several loops or processes elect one among themselves.
 */
#ifndef STEPBOX_CORE_ENGINE_START_H
#define STEPBOX_CORE_ENGINE_START_H

#include "exchange.h"

/* Makes the exchange wait for the engine; sbi_exchange_engine_ready() is called, maybe at once. */
void sbi_engine_start_join(sb_loop *loop, struct sbi_exchange *exchange);

/* The exchange waits no longer. */
void sbi_engine_start_leave(struct sbi_exchange *exchange);

/* Frees all starts of a loop that ends; nobody waits any more. */
void sbi_engine_start_abandon(sb_loop *loop);

#endif
