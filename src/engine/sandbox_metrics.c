/* sandbox_metrics.c - measures what a sandbox takes of its host, every few seconds and when asked.
 */
#include "sandbox_internal.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "process.h"
#include "process_usage.h"
#include "rfc3339.h"

/* The sandbox's root is its one file system, and what is in it may be the sandbox's doing: nothing
 * below it is looked up. */
static void read_disk(const struct sandbox *sandbox, struct metric_reading *reading) {
    char path[64];
    struct statfs about;
    reading->disk_total = sandbox->record.limits.disk;
    if (sandbox->process.init_fd < 0)
        return;
    snprintf(path, sizeof path, "/proc/%d/root", (int)sandbox->process.init_pid);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    /* As long as the process is there, the number is its own. */
    if (process_is_there(sandbox->process.init_fd) && fstatfs(fd, &about) == 0 &&
        about.f_type == TMPFS_MAGIC) {
        reading->disk = (int64_t)(about.f_blocks - about.f_bfree) * about.f_bsize;
        reading->disk_total = (int64_t)about.f_blocks * about.f_bsize;
    }
    close(fd);
}

static void read_group(const struct sandbox *sandbox, struct metric_reading *reading) {
    struct cgroup_stats stats;
    cgroup_read_stats(sandbox->cgroup, &stats);
    reading->cpu_time = stats.cpu_time < 0 ? 0 : stats.cpu_time;
    reading->memory = stats.memory < 0 ? 0 : stats.memory;
    reading->memory_cache = stats.memory_cache < 0 ? 0 : stats.memory_cache;
}

static void read_processes(const struct sandbox *sandbox, struct metric_reading *reading) {
    struct process_usage usage = {0};
    if (sandbox->process.init_fd >= 0)
        process_usage_read(sandbox->process.init_pid, &usage);
    reading->cpu_time = usage.cpu_time;
    reading->memory = usage.memory + reading->disk; /* which is in memory */
}

static struct metric_reading read_now(const struct sandbox *sandbox) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct metric_reading reading = {.at = rfc3339_now(),
                                     .clock = (double)now.tv_sec + (double)now.tv_nsec / 1e9};
    read_disk(sandbox, &reading);
    if (sandbox->cgroup)
        read_group(sandbox, &reading);
    else
        read_processes(sandbox, &reading);
    return reading;
}

static struct metric judge_now(const struct sandbox *sandbox) {
    struct metric_reading reading = read_now(sandbox);
    return metric_history_judge(&sandbox->metrics, &reading, sandbox->record.limits.cpus);
}

static void on_sample(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct sandbox *sandbox = timer->data;
    struct metric metric = judge_now(sandbox);
    metric_history_add(&sandbox->metrics, &metric);
    /* What all sandboxes together had too little of, the kernel does not tell each group. */
    if (sandbox->cgroup)
        cgroup_tell_oom(sandbox->cgroup);
}

void sandbox_metrics_open(struct sandbox *sandbox) {
    struct metric_reading reading = read_now(sandbox);
    metric_history_begin(&sandbox->metrics, &reading);
    ev_timer_init(&sandbox->sample, on_sample, METRIC_INTERVAL, METRIC_INTERVAL);
    sandbox->sample.data = sandbox;
    ev_timer_start(sandbox_loop(sandbox), &sandbox->sample);
}

void sandbox_metrics_close(struct sandbox *sandbox) {
    ev_timer_stop(sandbox_loop(sandbox), &sandbox->sample);
    metric_history_free(&sandbox->metrics);
}

static json_t *to_json(const struct sandbox *sandbox, const struct metric *metric) {
    const struct metric_reading *reading = &metric->reading;
    char at[RFC3339_SIZE];
    rfc3339_format(reading->at, at);
    return json_pack(
        "{s:s, s:I, s:i, s:f, s:I, s:I, s:I, s:I, s:I}", "timestamp", at, "timestampUnix",
        (json_int_t)(reading->at / 1000), "cpuCount", limits_cpu_count(&sandbox->record.limits),
        "cpuUsedPct", metric->cpu_percent, "memUsed", (json_int_t)reading->memory, "memTotal",
        (json_int_t)sandbox->record.limits.memory, "memCache", (json_int_t)reading->memory_cache,
        "diskUsed", (json_int_t)reading->disk, "diskTotal", (json_int_t)reading->disk_total);
}

json_t *sandbox_metrics_now(const struct sandbox *sandbox) {
    struct metric metric = judge_now(sandbox);
    return to_json(sandbox, &metric);
}

json_t *sandbox_metrics_list(const struct sandbox *sandbox, int64_t start, int64_t end) {
    json_t *list = json_array();
    const struct metric *metric;
    for (size_t i = 0; (metric = metric_history_at(&sandbox->metrics, i)); i++) {
        int64_t second = metric->reading.at / 1000;
        if (second >= start && second <= end)
            json_array_append_new(list, to_json(sandbox, metric));
    }
    struct metric now = judge_now(sandbox);
    if (now.reading.at / 1000 >= start && now.reading.at / 1000 <= end)
        json_array_append_new(list, to_json(sandbox, &now));
    return list;
}
