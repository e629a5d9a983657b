/* cgroup_oom.c - learns of processes that the kernel ended for want of memory, and tells of them.
 */
#include "cgroups_internal.h"

#include <sys/inotify.h>
#include <unistd.h>

/* The kernel tells of want of memory before it has killed: how long to wait, and how often. */
#define OOM_DELAY 0.02
#define OOM_DELAYS 10

/* Tells of kills that were not told yet. */
static bool tell_oom(struct cgroup *group) {
    struct cgroup_stats stats;
    cgroup_read_stats(group, &stats);
    int64_t fresh = stats.oom_kills - group->kills;
    if (fresh <= 0)
        return false;
    group->kills = stats.oom_kills;
    group->on_oom(fresh, group->user);
    return true;
}

static void on_oom_delay(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct cgroup *group = timer->data;
    if (tell_oom(group) || ++group->delays >= OOM_DELAYS)
        ev_timer_stop(loop, timer);
}

static void expect_oom(struct cgroup *group) {
    group->delays = 0;
    if (tell_oom(group) || ev_is_active(&group->oom_delay))
        return;
    ev_timer_set(&group->oom_delay, OOM_DELAY, OOM_DELAY);
    ev_timer_start(group->cgroups->loop, &group->oom_delay);
}

static void drain(int fd) {
    char bytes[4096];
    while (read(fd, bytes, sizeof bytes) > 0)
        continue;
}

/* Version 1: one descriptor for each group. */
static void on_group_oom(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    drain(io->fd);
    expect_oom(io->data);
}

/* Version 2: of some group; which one, the counters say. */
static void on_any_oom(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    struct cgroups *cgroups = io->data;
    drain(io->fd);
    for (struct cgroup *group = cgroups->first, *next; group; group = next) {
        next = group->next;
        tell_oom(group);
    }
}

void cgroup_tell_oom(struct cgroup *group) {
    tell_oom(group);
}

void cgroup_oom_init(struct cgroups *cgroups) {
    cgroups->oom_fd = -1;
    ev_io_init(&cgroups->oom, on_any_oom, -1, EV_READ);
    cgroups->oom.data = cgroups;
}

void cgroup_oom_open(struct cgroups *cgroups) {
    cgroups->oom_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ev_io_set(&cgroups->oom, cgroups->oom_fd, EV_READ);
    if (cgroups->oom_fd >= 0)
        ev_io_start(cgroups->loop, &cgroups->oom);
}

void cgroup_oom_close(struct cgroups *cgroups) {
    ev_io_stop(cgroups->loop, &cgroups->oom);
    if (cgroups->oom_fd >= 0)
        close(cgroups->oom_fd);
    cgroups->oom_fd = -1;
}

void cgroup_oom_watch(struct cgroup *group) {
    group->oom_fd = group->cgroups->version->watch_oom(group);
    ev_io_init(&group->oom, on_group_oom, group->oom_fd, EV_READ);
    ev_timer_init(&group->oom_delay, on_oom_delay, OOM_DELAY, OOM_DELAY);
    group->oom.data = group->oom_delay.data = group;
    if (group->oom_fd >= 0)
        ev_io_start(group->cgroups->loop, &group->oom);
}

void cgroup_oom_forget(struct cgroup *group) {
    ev_io_stop(group->cgroups->loop, &group->oom);
    ev_timer_stop(group->cgroups->loop, &group->oom_delay);
    if (group->oom_fd >= 0)
        close(group->oom_fd);
    group->oom_fd = -1;
}
