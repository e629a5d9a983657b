#include "metric_history.h"

#include <stdlib.h>

#define FIRST_ROOM 16
/* Over a shorter time the share of the processor says nothing. Seconds. */
#define LEAST_TIME 0.05

void metric_history_begin(struct metric_history *history, const struct metric_reading *reading) {
    history->last = (struct metric){.reading = *reading};
}

struct metric metric_history_judge(const struct metric_history *history,
                                   const struct metric_reading *reading, double cpus) {
    const struct metric_reading *before = &history->last.reading;
    struct metric metric = {.reading = *reading};
    double time = reading->clock - before->clock;
    if (time < LEAST_TIME) {
        metric.cpu_percent = history->last.cpu_percent;
        return metric;
    }
    double percent = (double)(reading->cpu_time - before->cpu_time) / 1e9 / time / cpus * 100.0;
    metric.cpu_percent = percent < 0 ? 0 : percent > 100 ? 100 : percent;
    return metric;
}

/* Room for another, by growing or at the cost of the oldest. NULL when there is none at all. */
static struct metric *take_place(struct metric_history *history) {
    /* Once it has gone round, for want of memory, it stays as it is. */
    if (history->count == history->room && history->room < METRIC_HISTORY_MAX &&
        history->oldest == 0) {
        size_t room = history->room ? history->room * 2 : FIRST_ROOM;
        room = room < METRIC_HISTORY_MAX ? room : METRIC_HISTORY_MAX;
        struct metric *larger = realloc(history->samples, room * sizeof *larger);
        if (larger) {
            history->samples = larger;
            history->room = room;
        }
    }
    if (history->room == 0)
        return NULL;
    if (history->count < history->room)
        return &history->samples[history->count++];
    struct metric *place = &history->samples[history->oldest];
    history->oldest = (history->oldest + 1) % history->room;
    return place;
}

void metric_history_add(struct metric_history *history, const struct metric *metric) {
    struct metric *place = take_place(history);
    if (place)
        *place = *metric;
    history->last = *metric;
}

const struct metric *metric_history_at(const struct metric_history *history, size_t index) {
    return index < history->count ? &history->samples[(history->oldest + index) % history->room]
                                  : NULL;
}

void metric_history_free(struct metric_history *history) {
    free(history->samples);
    *history = (struct metric_history){0};
}
