/*
 * process_usage.h - what the processes of a sandbox take, added up one by one, where no control
 * group counts it.
 */
#ifndef STEPBOX_PROCESS_USAGE_H
#define STEPBOX_PROCESS_USAGE_H

#include <stdint.h>
#include <sys/types.h>

struct process_usage {
    int64_t cpu_time; /* nanoseconds, of those that have ended and were waited for too */
    int64_t memory;   /* bytes of their own; what they share with others does not count */
    int processes;
};

/* Of a process and what descends from it; at most so many that it takes no longer than a few
 * milliseconds. */
void process_usage_read(pid_t first, struct process_usage *usage);

#endif
