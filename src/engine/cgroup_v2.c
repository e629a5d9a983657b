/* cgroup_v2.c - the files of version 2: one hierarchy, in which every group has all controllers. */
#include "cgroups_internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "cgroup_file.h"
#include "sandbox_limits.h"

#define PERIOD 100000 /* microseconds */

static int base(const struct cgroup *group) {
    return group->cgroups->hierarchies[0].fd;
}

static bool has(const struct cgroup *group, unsigned controller) {
    return group->cgroups->controllers & controller;
}

static int limit(const struct cgroup *group, const struct limits *limits) {
    char quota[64];
    int fd = base(group);
    if (limits->cpus < (double)cgroup_processors())
        snprintf(quota, sizeof quota, "%lld %d", (long long)(limits->cpus * PERIOD), PERIOD);
    else
        snprintf(quota, sizeof quota, "max %d", PERIOD);
    if ((has(group, CGROUP_MEMORY) &&
         cgroup_file_write_number(fd, group->name, "memory.max", limits->memory) < 0) ||
        (has(group, CGROUP_PIDS) &&
         cgroup_file_write_number(fd, group->name, "pids.max",
                                  limits->processes + LIMITS_GROUP_PROCESSES) < 0) ||
        (has(group, CGROUP_CPU) && cgroup_file_write(fd, group->name, "cpu.max", quota) < 0))
        return -1;
    /* Without swap in the kernel there is no such file. */
    if (has(group, CGROUP_MEMORY) &&
        cgroup_file_write(fd, group->name, "memory.swap.max", "0") < 0 && errno != ENOENT)
        return -1;
    return 0;
}

static int64_t read_number(const struct cgroup *group, const char *file) {
    int64_t number;
    return cgroup_file_read_number(base(group), group->name, file, &number) == 0 ? number : -1;
}

/* The number of a line in a file. */
static int64_t read_line(const struct cgroup *group, const char *file, const char *name) {
    char text[CGROUP_FILE_MAX];
    int64_t number;
    return cgroup_file_read(base(group), group->name, file, text) == 0 &&
                   cgroup_text_number(text, name, &number)
               ? number
               : -1;
}

static void read_stats(const struct cgroup *group, struct cgroup_stats *stats) {
    char text[CGROUP_FILE_MAX];
    int64_t usage = read_number(group, "memory.current"), file = 0, shared = 0;
    int64_t microseconds = read_line(group, "cpu.stat", "usage_usec");
    *stats = (struct cgroup_stats){.cpu_time = microseconds < 0 ? -1 : microseconds * 1000,
                                   .memory = usage,
                                   .memory_cache = -1,
                                   .processes = read_number(group, "pids.current"),
                                   .oom_kills = read_line(group, "memory.events", "oom_kill")};
    if (cgroup_file_read(base(group), group->name, "memory.stat", text) < 0 ||
        !cgroup_text_number(text, "file", &file))
        return;
    /* Files of a tmpfs are counted as cache too, but they do not give way. */
    cgroup_text_number(text, "shmem", &shared);
    stats->memory_cache = file > shared ? file - shared : 0;
    if (usage > stats->memory_cache)
        stats->memory = usage - stats->memory_cache;
}

static int freeze(const struct cgroup *group, bool on) {
    int result = cgroup_file_write(base(group), group->name, "cgroup.freeze", on ? "1" : "0");
    if (result < 0 && errno == ENOENT)
        errno = ENOTSUP; /* before Linux 5.2 */
    return result;
}

static bool is_frozen(const struct cgroup *group) {
    return read_line(group, "cgroup.events", "frozen") == 1;
}

static void kill_all(const struct cgroup *group) {
    if (cgroup_file_write(base(group), group->name, "cgroup.kill", "1") == 0)
        return;
    /* Before Linux 5.14. */
    cgroup_kill_listed(base(group), group->name);
    freeze(group, false);
}

static int watch_oom(const struct cgroup *group) {
    char path[CGROUP_NAME_MAX + 64];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s/memory.events", base(group), group->name);
    if (group->cgroups->oom_fd >= 0)
        inotify_add_watch(group->cgroups->oom_fd, path, IN_MODIFY); /* ends with the group */
    return -1;
}

const struct cgroup_version cgroup_v2 = {"cgroup2", limit,    read_stats, freeze,
                                         is_frozen, kill_all, watch_oom};
