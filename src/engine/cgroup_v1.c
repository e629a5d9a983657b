/* cgroup_v1.c - the files of version 1: each controller has a hierarchy of its own, or shares one.
 */
#include "cgroups_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cgroup_file.h"
#include "sandbox_limits.h"

#define PERIOD 100000 /* microseconds */
/* Of the memory: what connections may hold that nobody reads, besides it. */
#define SOCKETS_SHARE 8

static int write_number(const struct cgroup *group, unsigned controller, const char *file,
                        int64_t number) {
    int fd = cgroup_hierarchy_fd(group, controller);
    return fd < 0 ? 0 : cgroup_file_write_number(fd, group->name, file, number);
}

static int64_t read_number(const struct cgroup *group, unsigned controller, const char *file) {
    int64_t number;
    int fd = cgroup_hierarchy_fd(group, controller);
    return fd >= 0 && cgroup_file_read_number(fd, group->name, file, &number) == 0 ? number : -1;
}

static int limit(const struct cgroup *group, const struct limits *limits) {
    if (write_number(group, CGROUP_MEMORY, "memory.limit_in_bytes", limits->memory) < 0 ||
        write_number(group, CGROUP_PIDS, "pids.max", limits->processes + LIMITS_GROUP_PROCESSES) <
            0)
        return -1;
    /* Where swap is accounted there shall be none; elsewhere there is no such file. */
    if (write_number(group, CGROUP_MEMORY, "memory.memsw.limit_in_bytes", limits->memory) < 0 &&
        errno != ENOENT)
        return -1;
    /* Buffers of TCP and UDP are no part of the memory here, and the kernel has one bound for those
     * of all the host (net.ipv4.tcp_mem): one sandbox would take the connections of everybody. */
    if (write_number(group, CGROUP_MEMORY, "memory.kmem.tcp.limit_in_bytes",
                     limits->memory / SOCKETS_SHARE) < 0 &&
        errno != ENOENT && errno != EOPNOTSUPP)
        return -1;
    int64_t quota =
        limits->cpus < (double)cgroup_processors() ? (int64_t)(limits->cpus * PERIOD) : -1;
    /* A kernel without bandwidth control has no such files: it has the shares. */
    if (write_number(group, CGROUP_CPU, "cpu.cfs_period_us", PERIOD) < 0 ||
        write_number(group, CGROUP_CPU, "cpu.cfs_quota_us", quota) < 0)
        return errno == ENOENT ? 0 : -1;
    return 0;
}

static void read_stats(const struct cgroup *group, struct cgroup_stats *stats) {
    char text[CGROUP_FILE_MAX];
    int memory = cgroup_hierarchy_fd(group, CGROUP_MEMORY);
    int64_t usage = read_number(group, CGROUP_MEMORY, "memory.usage_in_bytes");
    int64_t cache = 0, shared = 0;
    *stats = (struct cgroup_stats){.cpu_time = read_number(group, CGROUP_CPUACCT, "cpuacct.usage"),
                                   .memory = usage,
                                   .memory_cache = -1,
                                   .processes = read_number(group, CGROUP_PIDS, "pids.current"),
                                   .oom_kills = -1};
    if (memory < 0)
        return;
    if (cgroup_file_read(memory, group->name, "memory.oom_control", text) == 0)
        cgroup_text_number(text, "oom_kill", &stats->oom_kills);
    if (cgroup_file_read(memory, group->name, "memory.stat", text) < 0 ||
        !cgroup_text_number(text, "total_cache", &cache))
        return;
    /* Files of a tmpfs are counted as cache too, but they do not give way. */
    cgroup_text_number(text, "total_shmem", &shared);
    stats->memory_cache = cache > shared ? cache - shared : 0;
    if (usage > stats->memory_cache)
        stats->memory = usage - stats->memory_cache;
}

static int freeze(const struct cgroup *group, bool on) {
    int fd = cgroup_hierarchy_fd(group, CGROUP_FREEZER);
    if (fd >= 0)
        return cgroup_file_write(fd, group->name, "freezer.state", on ? "FROZEN" : "THAWED");
    errno = ENOTSUP;
    return -1;
}

/* A process that a signal was just stopping when the group was told to freeze is stopped, but does
 * not count as frozen, and the kernel looks at it again only when it is told again. */
static bool is_frozen(const struct cgroup *group) {
    char text[CGROUP_FILE_MAX];
    int fd = cgroup_hierarchy_fd(group, CGROUP_FREEZER);
    if (fd < 0 || cgroup_file_read(fd, group->name, "freezer.state", text) != 0)
        return false;
    if (cgroup_text_has(text, "FREEZING"))
        freeze(group, true);
    return cgroup_text_has(text, "FROZEN");
}

static void kill_all(const struct cgroup *group) {
    cgroup_kill_listed(group->cgroups->hierarchies[0].fd, group->name);
    /* A frozen process dies when it is let go on. */
    freeze(group, false);
}

/* An eventfd that is tied to memory.oom_control. */
static int watch_oom(const struct cgroup *group) {
    int memory = cgroup_hierarchy_fd(group, CGROUP_MEMORY);
    char path[CGROUP_NAME_MAX + 32], text[64];
    if (memory < 0)
        return -1;
    snprintf(path, sizeof path, "%s/memory.oom_control", group->name);
    int control = openat(memory, path, O_RDONLY | O_CLOEXEC);
    int event = control < 0 ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    snprintf(text, sizeof text, "%d %d", event, control);
    if (event >= 0 && cgroup_file_write(memory, group->name, "cgroup.event_control", text) < 0) {
        close(event);
        event = -1;
    }
    if (control >= 0)
        close(control);
    return event;
}

const struct cgroup_version cgroup_v1 = {"cgroup1", limit,    read_stats, freeze,
                                         is_frozen, kill_all, watch_oom};
