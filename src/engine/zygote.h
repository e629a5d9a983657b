/*
 * zygote.h - the zygotes: Python processes outside of all sandboxes that runners are forked from.
 *
 * Runners of one zygote have the seed of their hashes and the layout of their memory in common, so
 * each sandbox gets a zygote that no other had before, as long as there is a fresh one; a next one
 * is made ready meanwhile. Where sandboxes come faster than zygotes, their runners are started as
 * programs, as they are where there is no zygote; or a few share one, if that is allowed.
 */
#ifndef STEPBOX_ZYGOTE_H
#define STEPBOX_ZYGOTE_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "payload.h"
#include "zygote_job.h"

struct zygotes;
struct zygote;

typedef struct zygotes_config {
    struct ev_loop *loop; /* the default loop: only that one sees children end */
    const struct payload *payload;
    uid_t uid; /* who owns the sandboxes' namespaces; that is us when it is 0 */
    gid_t gid;
    size_t fresh; /* how many that no sandbox has had are kept, at least 1 */
    bool off;
    bool never_share;
} zygotes_config;

/* NULL when out of memory. Without a zygote's files, or when it is off, none is ever there. */
struct zygotes *zygotes_new(const zygotes_config *config);
void zygotes_free(struct zygotes *set);

/* A sandbox is coming: have one ready. */
void zygotes_expect(struct zygotes *set);

/* The zygote of a sandbox. *number is 0 at first, and belongs to the sandbox. NULL when there is
 * none for it now. */
struct zygote *zygotes_take(struct zygotes *set, uint64_t *number);
/* Whether it is worth waiting: one is about to be ready. */
bool zygotes_are_coming(const struct zygotes *set);
/* The sandbox has ended. */
void zygotes_leave(struct zygotes *set, uint64_t number);

/* Sends a job with JOB_FDS and job->groups descriptors, which the caller keeps. 0, or -1 when the
 * zygote takes no more. */
int zygote_send(struct zygote *zygote, const struct zygote_job *job, const int fds[JOB_FDS_MAX]);

/* Whether that child of ours is a zygote. */
bool zygotes_has(const struct zygotes *set, pid_t pid);

/* {"zygotes": N, "ready": N, "fresh": N, "why": TEXT}: how many there are, may be used, and no
 * sandbox had; the last where there are none. */
json_t *zygotes_describe(const struct zygotes *set);

#endif
