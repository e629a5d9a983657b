/*
 * cgroups.h - a control group for each sandbox: what it may take, what it has taken, and all of its
 * processes at once.
 *
 * All groups of an engine are below one of its own, "stepbox-...", whose name says which process
 * made it: what a killed engine left behind is removed by its watchdog, or by the next engine. The
 * sandboxes together may take at most a part of the host's memory (the bound of the group of the
 * engine), each its own limits. There are two versions of the kernel's interface (cgroup_v1.c,
 * cgroup_v2.c); where neither can be written to, there are no groups and rlimits have to do.
 *
 * Nothing here waits. Removing a group whose processes are still dying is tried again by a timer.
 */
#ifndef STEPBOX_CGROUPS_H
#define STEPBOX_CGROUPS_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroups;
struct cgroup;
struct limits;

/* Groups that a process has to join at most: one in each hierarchy. */
#define CGROUP_JOIN_MAX 6

/* all_memory: bytes that all sandboxes may take together. NULL when out of memory; where there are
 * no groups, cgroups_kind() is "rlimit" and cgroups_describe() says why. */
struct cgroups *cgroups_open(struct ev_loop *loop, int64_t all_memory);
/* Frees every group too. */
void cgroups_close(struct cgroups *cgroups);
/* "cgroup2", "cgroup1" or "rlimit". */
const char *cgroups_kind(const struct cgroups *cgroups);
/* Which limits hold: {"by": ..., "memory": true, ...}, and why not more. A new reference. */
json_t *cgroups_describe(const struct cgroups *cgroups);
/* The names in "limits" of what this host cannot enforce. A new array. */
json_t *cgroups_missing(const struct cgroups *cgroups);

/* Removes what engines that are gone have left. Returns how many groups of such engines are there
 * still. */
int cgroups_sweep(void);

/* Called when the kernel has ended processes of a group for want of memory; kills: how many since
 * the last time. */
typedef void cgroup_oom(int64_t kills, void *user);

/* A group with limits. NULL with errno 0 where there are no groups, NULL with another errno when it
 * cannot be made. */
struct cgroup *cgroup_make(struct cgroups *cgroups, const char *id, const struct limits *limits,
                           cgroup_oom *on_oom, void *user);
/* Removes it as soon as it has no processes; on_oom is not called any more. NULL is allowed. */
void cgroup_free(struct cgroup *group);

/* For a child that joins by itself, before it does anything else: opens what cgroup_join() writes
 * to. Returns how many descriptors (close-on-exec) it put there, or -1 with errno. */
int cgroup_open_join(const struct cgroup *group, int fds[CGROUP_JOIN_MAX]);
/* In the child. 0, or -1 with errno. Async-signal-safe. */
int cgroup_join(const int *fds, int count);
/* Moves a process, and with it all its threads. May take some milliseconds on a busy host. */
int cgroup_add(struct cgroup *group, pid_t pid);

/* Stops all processes, or lets them go on. It takes the kernel a moment: ask
 * cgroup_is_frozen() until it is so, which helps it along. 0, or -1 with errno (ENOTSUP: this host
 * cannot). */
int cgroup_freeze(struct cgroup *group, bool freeze);
bool cgroup_is_frozen(const struct cgroup *group);
/* Kills all processes, frozen ones too. */
void cgroup_kill(struct cgroup *group);

struct cgroup_stats {
    int64_t cpu_time;     /* nanoseconds since the group was made; -1: not counted here */
    int64_t memory;       /* bytes in use, files in memory with them, without memory_cache; or -1 */
    int64_t memory_cache; /* bytes of cached files of disks, which give way; or -1 */
    int64_t processes;    /* and threads; or -1 */
    int64_t oom_kills;    /* processes ended for want of memory; or -1 */
};

void cgroup_read_stats(const struct cgroup *group, struct cgroup_stats *stats);
/* Calls on_oom now if there is something to tell. */
void cgroup_tell_oom(struct cgroup *group);

#endif
