/*
 * ownership.h - the sandboxes that this process owns.
 *
 * A local engine holds a lease per client process and kills what a dead process owned. A server far
 * away knows nothing of processes, so owned sandboxes there are kept in a list, which a handler at
 * exit works off. A child after a fork starts with an empty list: it owns nothing of its parent's.
 */
#ifndef STEPBOX_CORE_OWNERSHIP_H
#define STEPBOX_CORE_OWNERSHIP_H

#include "config.h"
#include "kill_request.h"

#include <stdint.h>

/* One owned sandbox. Belongs to its box, then to the reaper. */
struct sbi_owned {
    struct sbi_config *config;
    char *id;
    struct sbi_owned *previous, *next; /* in the process's list, if it is there */
    bool is_listed;
    /* The reaper's: */
    struct sbi_owned *next_queued;
    struct sbi_kill_request request;
    int attempts;
    int64_t retry_at; /* sbi_now() time */
};

struct sbi_owned *sbi_owned_new(struct sbi_config *config, const char *id, sb_error *err);

/* Ends the ownership without a kill, or after it. NULL is allowed. */
void sbi_owned_free(struct sbi_owned *owned);

/* The handler at exit: kills what is listed, for at most two seconds. */
void sbi_ownership_end_at_exit(void);

#endif
