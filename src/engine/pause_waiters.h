/*
 * pause_waiters.h - who waits for a sandbox to be paused, held or running. The list is the
 * sandbox's; a waiter is told once.
 */
#ifndef STEPBOX_PAUSE_WAITERS_H
#define STEPBOX_PAUSE_WAITERS_H

#include "sandbox.h"

enum pause_awaited {
    AWAIT_RUNNING,
    AWAIT_PAUSED, /* as clients mean it */
    AWAIT_HELD    /* for a snapshot */
};

struct pause_waiter;

/* settled may be NULL. 0, or -1 when out of memory. */
int pause_waiters_add(struct pause_waiter **list, enum pause_awaited awaited,
                      sandbox_settled *settled, void *user);
bool pause_waiters_have(const struct pause_waiter *list, enum pause_awaited awaited);
/* Tells those who wait for that; they may add others. */
void pause_waiters_tell(struct pause_waiter **list, enum pause_awaited awaited,
                        struct sandbox *sandbox, int status, const char *message);

#endif
