/*
 * timer.h - the deadlines of a loop, nearest first.
 *
 * A sorted list: most deadlines are set in the order in which they pass, and are then found from
 * the end at once. Timers live inside what they belong to; nothing is allocated.
 */
#ifndef STEPBOX_CORE_TIMER_H
#define STEPBOX_CORE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct sbi_timer {
    struct sbi_timer *previous, *next;
    int64_t due; /* sbi_now() time */
    void (*fire)(void *user);
    void *user;
    bool set;
};

struct sbi_timers {
    struct sbi_timer *first, *last;
};

/* Sets (or moves) a timer; due SBI_NEVER only unsets it. */
void sbi_timer_set(struct sbi_timers *timers, struct sbi_timer *timer, int64_t due);
void sbi_timer_unset(struct sbi_timers *timers, struct sbi_timer *timer);

/* When the first one is due, or SBI_NEVER. */
int64_t sbi_timers_due(const struct sbi_timers *timers);

/* Unsets and fires all that are due. What they call may set and unset timers. */
void sbi_timers_fire(struct sbi_timers *timers, int64_t now);

#endif
