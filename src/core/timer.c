#include "timer.h"

#include "timestamp.h"

#include <stddef.h>

void sbi_timer_unset(struct sbi_timers *timers, struct sbi_timer *timer) {
    if (!timer->set) {
        return;
    }
    *(timer->previous != NULL ? &timer->previous->next : &timers->first) = timer->next;
    *(timer->next != NULL ? &timer->next->previous : &timers->last) = timer->previous;
    timer->previous = timer->next = NULL;
    timer->set = false;
}

void sbi_timer_set(struct sbi_timers *timers, struct sbi_timer *timer, int64_t due) {
    sbi_timer_unset(timers, timer);
    if (due == SBI_NEVER) {
        return;
    }
    struct sbi_timer *before = timers->last;
    while (before != NULL && before->due > due) {
        before = before->previous;
    }
    timer->due = due;
    timer->previous = before;
    timer->next = before != NULL ? before->next : timers->first;
    *(timer->previous != NULL ? &timer->previous->next : &timers->first) = timer;
    *(timer->next != NULL ? &timer->next->previous : &timers->last) = timer;
    timer->set = true;
}

int64_t sbi_timers_due(const struct sbi_timers *timers) {
    return timers->first != NULL ? timers->first->due : SBI_NEVER;
}

void sbi_timers_fire(struct sbi_timers *timers, int64_t now) {
    while (timers->first != NULL && timers->first->due <= now) {
        struct sbi_timer *timer = timers->first;
        sbi_timer_unset(timers, timer);
        timer->fire(timer->user);
    }
}
