/*
 * unattended.h - requests that nobody waits for: each frees itself when it is done, however that
 * was, or silently with its loop.
 */
#ifndef STEPBOX_CORE_UNATTENDED_H
#define STEPBOX_CORE_UNATTENDED_H

#include "exchange.h"

/* Starts a described exchange and takes it over, also when that fails. */
void sbi_unattended_send(struct sbi_exchange *exchange);

/* Takes over an exchange that is under way; `stream` gets what still comes, with `user`. When it is
 * done `end` is called, and frees user; is_done is false when it goes with its loop instead. -1
 * without memory: nothing has changed. */
int sbi_unattended_adopt(struct sbi_exchange *exchange, const struct sbi_stream *stream, void *user,
                         void (*end)(void *user, bool is_done));

/* Frees all of a loop's. */
void sbi_unattended_abandon(sb_loop *loop);

#endif
