/*
 * zygote_internal.h - what zygote.c (one zygote's life) and zygotes.c (which there are, and who has
 * which) share.
 */
#ifndef STEPBOX_ZYGOTE_INTERNAL_H
#define STEPBOX_ZYGOTE_INTERNAL_H

#include "zygote.h"
#include "zygote_start.h"

struct zygote {
    struct zygotes *set;
    struct zygote *next;
    uint64_t number;
    zygote_process process;
    bool ready;
    bool ending;
    size_t sandboxes; /* that have it */
    size_t had;       /* that have ever had it */
    ev_tstamp last_use;
    char said[256]; /* the last on its stderr, for the log */
    ev_child exit;
    ev_io readable, stderr_readable;
    ev_timer deadline;
};

struct zygotes {
    zygotes_config config;
    struct zygote_files files;
    struct zygote *first;
    uint64_t last_number;
    int failures;  /* in a row */
    bool expected; /* sandboxes are made here */
    char why[300]; /* there are none; "" when there could be */
    ev_tstamp last_start, last_take;
    ev_timer pause; /* until the next start */
    ev_timer sweep;
};

/* zygote.c */
/* Starts one, which joins the set. background: nobody waits for it. */
void zygote_add(struct zygotes *set, bool background);
/* Without its jobs a zygote ends by itself; one that does not is no zygote any more. */
void zygote_end(struct zygote *zygote);
/* Leaves the set, and is freed. */
void zygote_release(struct zygote *zygote);

/* zygotes.c */
/* One has ended that nobody has ended; status: of its process. */
void zygotes_lost(struct zygotes *set, const struct zygote *zygote, int status);

#endif
