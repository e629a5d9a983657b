/*
 * metric_history.h - what a sandbox has taken of its host, sample after sample; the oldest go when
 * there are too many.
 */
#ifndef STEPBOX_METRIC_HISTORY_H
#define STEPBOX_METRIC_HISTORY_H

#include <stddef.h>
#include <stdint.h>

/* Seconds between samples, and how many are kept: two hours of them. */
#define METRIC_INTERVAL 5.0
#define METRIC_HISTORY_MAX 1440

/* What was measured. Unknown amounts are 0. */
struct metric_reading {
    int64_t at;                                     /* wall clock, milliseconds since 1970 */
    double clock;                                   /* seconds of a clock that does not jump */
    int64_t cpu_time;                               /* nanoseconds since the sandbox began */
    int64_t memory, memory_cache, disk, disk_total; /* bytes */
};

struct metric {
    struct metric_reading reading;
    double cpu_percent; /* of all processors of the sandbox, since the sample before */
};

/* Zeroed is empty. */
struct metric_history {
    struct metric *samples; /* a ring once it is full */
    size_t count, room, oldest;
    struct metric last; /* also when there is none yet: where the processor's time began */
};

/* Where the first sample begins. */
void metric_history_begin(struct metric_history *history, const struct metric_reading *reading);
/* What a reading says after the sample before it, without keeping it. */
struct metric metric_history_judge(const struct metric_history *history,
                                   const struct metric_reading *reading, double cpus);
/* Keeps a sample. Without memory for another the oldest goes. */
void metric_history_add(struct metric_history *history, const struct metric *metric);
/* The oldest first. NULL when there are not as many. */
const struct metric *metric_history_at(const struct metric_history *history, size_t index);
void metric_history_free(struct metric_history *history);

#endif
