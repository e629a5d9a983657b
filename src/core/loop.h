/*
 * loop.h - inside of a loop, for what runs on it.
 *
 * libcurl tells through its socket and timer callbacks what to wait for; the loop keeps that in an
 * epoll set together with a timerfd, so that the epoll descriptor alone says when there is work.
 * Other descriptors (the pipe of a starting engine) are watched beside.
 *
 * After a fork the child shares the epoll set and the connections with its parent. It must touch
 * neither: all that a child frees is memory, what belongs to libcurl stays allocated.
 */
#ifndef STEPBOX_CORE_LOOP_H
#define STEPBOX_CORE_LOOP_H

#include "error.h"
#include "stepbox.h"
#include "timer.h"

#include <curl/curl.h>
#include <sys/types.h>

struct sbi_engine_start;
struct sbi_reaper;
struct sbi_unattended;

/* Handles kept for the next request: making one costs more than resetting it. */
#define SBI_IDLE_HANDLES 16

/* A descriptor that is no transfer's. */
struct sbi_watch {
    struct sbi_watch *next;
    int fd;
    void (*readable)(void *user);
    void *user;
};

struct sb_loop {
    pid_t pid; /* the process that made it */
    CURLM *multi;
    int epoll_fd, timer_fd;
    int64_t armed;    /* what timer_fd is set to */
    int64_t curl_due; /* when libcurl wants to be called */
    bool kicked;      /* there is news that no descriptor tells */
    bool stepping;
    bool has_remote; /* a client of a server far away: what writes may be TLS */
    bool trace;      /* STEPBOX_TRACE is set: changes of state go to stderr */
    struct sbi_timers timers;
    struct sbi_watch *watches;
    sb_op *ready_first, *ready_last;
    CURL *idle[SBI_IDLE_HANDLES];
    size_t idle_count;
    struct sbi_engine_start *engine_starts;
    struct sbi_unattended *unattended; /* requests that nobody waits for */
    struct sbi_reaper *reaper;         /* NULL until the first owning box */
    sb_loop *next_inherited; /* freed in a process that forked: kept, see sb_loop_free() */
};

/* -1 with SB_INVALID in a process that forked after the loop was made. */
int sbi_loop_check(const sb_loop *loop, sb_error *err);
bool sbi_loop_is_foreign(const sb_loop *loop);

void sbi_loop_set_timer(sb_loop *loop, struct sbi_timer *timer, int64_t due);
void sbi_loop_unset_timer(sb_loop *loop, struct sbi_timer *timer);

/* Watches for input, until sbi_loop_unwatch(). The watch belongs to the caller. -1 with errno. */
int sbi_loop_watch(sb_loop *loop, struct sbi_watch *watch);
void sbi_loop_unwatch(sb_loop *loop, struct sbi_watch *watch);

/* An easy handle in its default state, and back. */
CURL *sbi_loop_take_handle(sb_loop *loop);
void sbi_loop_return_handle(sb_loop *loop, CURL *handle);

/* Makes the loop's descriptor readable: there is news that no descriptor tells. */
void sbi_loop_kick(sb_loop *loop);

/* Runs until *done. */
int sbi_loop_run(sb_loop *loop, const bool *done, sb_error *err);

#endif
