/*
 * unattended.h - requests that nobody waits for: each frees itself when it is done, however that
 * was, or silently with its loop.
 */
#ifndef STEPBOX_CORE_UNATTENDED_H
#define STEPBOX_CORE_UNATTENDED_H

#include "exchange.h"

/* Starts a described exchange and takes it over, also when that fails. */
void sbi_unattended_send(struct sbi_exchange *exchange);

/* Frees all of a loop's. */
void sbi_unattended_abandon(sb_loop *loop);

#endif
