/* zygotes.c - the zygotes of an engine: when one is started, who gets which, and when one is over.
 */
#include "zygote_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"

/* How many that sandboxes have had may be there besides the fresh ones. One takes some 27 MB and
 * 0.3 s to start. */
#define USED_MAX 4
/* Of the first ones, so many are started at once. */
#define FIRST_AT_ONCE 2
/* Sandboxes that may have the same one, where that is allowed at all. */
#define SHARED_BY_MAX 16
/* Seconds between looks for what has served. */
#define SWEEP_INTERVAL 1.0
/* Seconds after a start until the next one is thought of. */
#define START_INTERVAL 0.25
/* Sandboxes that come in a rush need the processor themselves. Seconds without a runner after which
 * there is none, and seconds between two starts as long as there is one. */
#define RUSH_SECONDS 0.25
#define RUSH_START_INTERVAL 1.0
/* Seconds after one that did not become ready until the next start; when so many have given up by
 * themselves, one after the other, there is no other try. */
#define RETRY_INTERVAL 3.0
#define FAILURES_MAX 3
/* Seconds after which one that is not used any more ends, while there are fresh ones. */
#define IDLE_SECONDS 20.0
/* Seconds after which its last job is surely done. */
#define RESTED_SECONDS 2.0

static size_t count(const struct zygotes *set, bool fresh) {
    size_t found = 0;
    for (const struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        found += !zygote->ending && (!fresh || zygote->had == 0);
    return found;
}

/* Whether another sandbox may have it. */
static bool is_free(const struct zygote *zygote) {
    return zygote->ready && zygote->had < (zygote->set->config.never_share ? 1 : SHARED_BY_MAX);
}

/* Whether the first is the better one for another sandbox. */
static bool is_better(const struct zygote *zygote, const struct zygote *than) {
    return !than || zygote->had < than->had ||
           (zygote->had == than->had && zygote->number < than->number);
}

static struct zygote *choose(struct zygotes *set) {
    struct zygote *best = NULL;
    for (struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        if (is_free(zygote) && is_better(zygote, best))
            best = zygote;
    return best;
}

static bool is_full(const struct zygotes *set) {
    return count(set, false) >= set->config.fresh + USED_MAX;
}

static void pause_for(struct zygotes *set, double seconds) {
    ev_timer_stop(set->config.loop, &set->pause);
    ev_timer_set(&set->pause, seconds, 0.0);
    ev_timer_start(set->config.loop, &set->pause);
}

/* One after the other, with pauses. */
static void start_next(struct zygotes *set) {
    if (set->why[0] || !set->expected || ev_is_active(&set->pause) || is_full(set) ||
        count(set, true) >= set->config.fresh)
        return;
    zygote_add(set, choose(set) != NULL);
    set->last_start = ev_now(set->config.loop);
    if (set->last_number < FIRST_AT_ONCE)
        start_next(set);
    else
        pause_for(set, START_INTERVAL);
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct zygotes *set = timer->data;
    bool is_rush = ev_now(loop) - set->last_take < RUSH_SECONDS &&
                   ev_now(loop) - set->last_start < RUSH_START_INTERVAL;
    if (is_rush || zygotes_are_coming(set))
        pause_for(set, START_INTERVAL);
    else
        start_next(set);
}

/* When there are as many as may be, and none is fresh, the one that has been idle for longest makes
 * room: its sandbox gets another should it need one. */
static void make_room(struct zygotes *set, ev_tstamp now) {
    struct zygote *oldest = NULL;
    if (count(set, true) > 0 || !is_full(set))
        return;
    for (struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        if (zygote->ready && now - zygote->last_use > RESTED_SECONDS &&
            (!oldest || zygote->last_use < oldest->last_use))
            oldest = zygote;
    if (oldest)
        zygote_end(oldest);
}

/* Ends what has served: those without a sandbox, and those that are idle, whose sandbox gets
 * another should it need one. */
static void on_sweep(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct zygotes *set = timer->data;
    bool spare = false;
    for (struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        spare = spare || (zygote->ready && zygote->had == 0);
    for (struct zygote *zygote = set->first; zygote && spare; zygote = zygote->next)
        if (zygote->ready && zygote->had > 0 &&
            (zygote->sandboxes == 0 || ev_now(loop) - zygote->last_use > IDLE_SECONDS))
            zygote_end(zygote);
    make_room(set, ev_now(loop));
    start_next(set);
}

void zygotes_lost(struct zygotes *set, const struct zygote *zygote, int status) {
    log_warn("a zygote ended with status %#x: %s", (unsigned)status, zygote->said);
    bool gave_up = !zygote->ready && WIFEXITED(status);
    bool never = gave_up && WEXITSTATUS(status) == ZYGOTE_NEVER;
    if (never || (gave_up && ++set->failures >= FAILURES_MAX))
        snprintf(set->why, sizeof set->why, "%s",
                 zygote->said[0] ? zygote->said : "its process ends at once");
    pause_for(set, zygote->ready ? START_INTERVAL : RETRY_INTERVAL);
    if (set->why[0])
        log_warn("runners are not forked any more: %s", set->why);
}

struct zygotes *zygotes_new(const zygotes_config *config) {
    struct zygotes *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->config = *config;
    set->files = (struct zygote_files){-1, -1, -1};
    ev_timer_init(&set->pause, on_pause_over, 0.0, 0.0);
    ev_timer_init(&set->sweep, on_sweep, SWEEP_INTERVAL, SWEEP_INTERVAL);
    set->pause.data = set->sweep.data = set;
    if (config->off)
        snprintf(set->why, sizeof set->why, "it is switched off");
    else if (access(ZYGOTE_PYTHON, X_OK) < 0)
        snprintf(set->why, sizeof set->why, ZYGOTE_PYTHON ": %s", strerror(errno));
    else if (zygote_files_load(&set->files, config->payload, set->why, sizeof set->why) == 0)
        set->why[0] = '\0';
    return set;
}

void zygotes_free(struct zygotes *set) {
    if (!set)
        return;
    for (struct zygote *zygote = set->first, *next; zygote; zygote = next) {
        next = zygote->next;
        zygote_end(zygote);
        waitpid(zygote->process.pid, NULL, 0);
        zygote_release(zygote);
    }
    ev_timer_stop(set->config.loop, &set->pause);
    ev_timer_stop(set->config.loop, &set->sweep);
    zygote_files_close(&set->files);
    free(set);
}

void zygotes_expect(struct zygotes *set) {
    if (set->why[0])
        return;
    set->expected = true;
    if (!ev_is_active(&set->sweep))
        ev_timer_start(set->config.loop, &set->sweep);
    start_next(set);
}

static struct zygote *find(struct zygotes *set, uint64_t number) {
    struct zygote *zygote = set->first;
    while (zygote && zygote->number != number)
        zygote = zygote->next;
    return zygote;
}

struct zygote *zygotes_take(struct zygotes *set, uint64_t *number) {
    struct zygote *zygote = *number ? find(set, *number) : NULL;
    if (!zygote || !zygote->ready) {
        zygote = choose(set);
        if (zygote) {
            zygotes_leave(set, *number);
            zygote->sandboxes++;
            zygote->had++;
        }
    }
    if (zygote) {
        *number = zygote->number;
        zygote->last_use = ev_now(set->config.loop);
    }
    set->last_take = ev_now(set->config.loop);
    start_next(set);
    return zygote;
}

bool zygotes_are_coming(const struct zygotes *set) {
    for (const struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        if (!zygote->ready && !zygote->ending)
            return true;
    return false;
}

void zygotes_leave(struct zygotes *set, uint64_t number) {
    struct zygote *zygote = number ? find(set, number) : NULL;
    if (!zygote || zygote->sandboxes == 0)
        return;
    /* One that no other sandbox may have only takes a place. */
    if (--zygote->sandboxes == 0 && !is_free(zygote))
        zygote_end(zygote);
}

bool zygotes_has(const struct zygotes *set, pid_t pid) {
    for (const struct zygote *zygote = set->first; zygote; zygote = zygote->next)
        if (zygote->process.pid == pid)
            return true;
    return false;
}

json_t *zygotes_describe(const struct zygotes *set) {
    size_t ready = 0, fresh = 0;
    for (const struct zygote *zygote = set->first; zygote; zygote = zygote->next) {
        ready += zygote->ready;
        fresh += zygote->ready && zygote->had == 0;
    }
    json_t *object = json_pack("{s:I, s:I, s:I}", "zygotes", (json_int_t)count(set, false), "ready",
                               (json_int_t)ready, "fresh", (json_int_t)fresh);
    if (object && set->why[0])
        json_object_set_new(object, "why", json_string(set->why));
    return object;
}
