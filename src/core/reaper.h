/*
 * reaper.h - the thread that kills sandboxes whose box was freed, so that freeing never blocks.
 *
 * One per loop, started with the first owning box. All signals are blocked in it: the host's
 * handlers never run there.
 */
#ifndef STEPBOX_CORE_REAPER_H
#define STEPBOX_CORE_REAPER_H

#include "ownership.h"

#include <sys/types.h>

struct sb_loop;
struct sbi_reaper;

/* Starts the loop's reaper unless it runs. A failure is no error: the next call tries again. */
void sbi_reaper_start(struct sb_loop *loop);

/* Hands over a sandbox to be killed, with the record of its ownership. Does not block. */
void sbi_reaper_kill(struct sb_loop *loop, struct sbi_owned *owned);

/* Lets the thread finish what it has, for at most five seconds; then it goes on by itself. NULL is
 * allowed. */
void sbi_reaper_end(struct sbi_reaper *reaper);

#endif
