/* cgroups.c - making, joining and removing the groups of sandboxes. */
#include "cgroups_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_file.h"
#include "log.h"

/* Seconds between tries to remove groups whose processes are dying. */
#define RETRY 0.05
/* The same for what an engine that is gone has left, and how often. */
#define SWEEP_INTERVAL 0.5
#define SWEEPS 60

long cgroup_processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? count : 1;
}

int cgroup_hierarchy_fd(const struct cgroup *group, unsigned controller) {
    const struct cgroups *cgroups = group->cgroups;
    for (size_t i = 0; i < cgroups->count; i++)
        if (cgroups->hierarchies[i].controllers & controller)
            return cgroups->hierarchies[i].fd;
    return -1;
}

bool cgroup_kill_listed(int directory, const char *group) {
    char path[CGROUP_NAME_MAX + 16];
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    FILE *list = fd < 0 ? NULL : fdopen(fd, "r");
    bool any = false;
    int pid;
    while (list && fscanf(list, "%d", &pid) == 1) {
        any = true;
        if (pid > 0) /* 0: one of another namespace of processes */
            kill(pid, SIGKILL);
    }
    if (list)
        fclose(list);
    else if (fd >= 0)
        close(fd);
    return any;
}

static void link_group(struct cgroup **list, struct cgroup *group) {
    group->previous = NULL;
    group->next = *list;
    if (*list)
        (*list)->previous = group;
    *list = group;
}

static void unlink_group(struct cgroup **list, struct cgroup *group) {
    if (group->previous)
        group->previous->next = group->next;
    else
        *list = group->next;
    if (group->next)
        group->next->previous = group->previous;
}

/* Whether it is gone from every hierarchy. */
static bool remove_group(const struct cgroup *group) {
    const struct cgroups *cgroups = group->cgroups;
    bool gone = true;
    for (size_t i = 0; i < cgroups->count; i++)
        if (unlinkat(cgroups->hierarchies[i].fd, group->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
            gone = false;
    return gone;
}

static void on_retry(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct cgroups *cgroups = timer->data;
    for (struct cgroup *group = cgroups->dying, *next; group; group = next) {
        next = group->next;
        if (!remove_group(group))
            continue;
        unlink_group(&cgroups->dying, group);
        free(group);
    }
    if (!cgroups->dying)
        ev_timer_stop(loop, timer);
}

static void on_sweep(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct cgroups *cgroups = timer->data;
    if (cgroups_sweep() == 0 || ++cgroups->sweeps >= SWEEPS)
        ev_timer_stop(loop, timer);
}

struct cgroups *cgroups_open(struct ev_loop *loop, int64_t all_memory) {
    struct cgroups *cgroups = calloc(1, sizeof *cgroups);
    if (!cgroups)
        return NULL;
    cgroups->loop = loop;
    cgroup_oom_init(cgroups);
    ev_timer_init(&cgroups->retry, on_retry, RETRY, RETRY);
    cgroups->retry.data = cgroups;
    ev_timer_init(&cgroups->sweep, on_sweep, SWEEP_INTERVAL, SWEEP_INTERVAL);
    cgroups->sweep.data = cgroups;
    if (cgroups_sweep() > 0)
        ev_timer_start(loop, &cgroups->sweep);
    if (cgroup_base_make(cgroups, all_memory) < 0) {
        log_info("no control groups: %s", cgroups->reason);
        return cgroups;
    }
    if (cgroups->version == &cgroup_v2)
        cgroup_oom_open(cgroups);
    log_info("limits are held by %s", cgroups->version->name);
    return cgroups;
}

void cgroups_close(struct cgroups *cgroups) {
    if (!cgroups)
        return;
    while (cgroups->first)
        cgroup_free(cgroups->first);
    while (cgroups->dying) {
        struct cgroup *group = cgroups->dying;
        remove_group(group); /* the watchdog removes what is there still */
        unlink_group(&cgroups->dying, group);
        free(group);
    }
    ev_timer_stop(cgroups->loop, &cgroups->retry);
    ev_timer_stop(cgroups->loop, &cgroups->sweep);
    cgroup_oom_close(cgroups);
    cgroup_base_remove(cgroups);
    free(cgroups);
}

const char *cgroups_kind(const struct cgroups *cgroups) {
    return cgroups->version ? cgroups->version->name : "rlimit";
}

json_t *cgroups_missing(const struct cgroups *cgroups) {
    json_t *missing = json_array();
    if (!(cgroups->controllers & CGROUP_MEMORY))
        json_array_append_new(missing, json_string("memoryMB"));
    if (!(cgroups->controllers & CGROUP_CPU))
        json_array_append_new(missing, json_string("cpuCount"));
    return missing;
}

json_t *cgroups_describe(const struct cgroups *cgroups) {
    json_t *described = json_pack("{s:s, s:o}", "by", cgroups_kind(cgroups), "notEnforced",
                                  cgroups_missing(cgroups));
    if (described && cgroups->reason[0])
        json_object_set_new(described, "reason", json_string(cgroups->reason));
    return described;
}

/* Makes the directories. 0, or -1 with errno. */
static int make_directories(const struct cgroup *group) {
    const struct cgroups *cgroups = group->cgroups;
    for (size_t i = 0; i < cgroups->count; i++)
        if (mkdirat(cgroups->hierarchies[i].fd, group->name, 0755) < 0)
            return -1;
    return 0;
}

struct cgroup *cgroup_make(struct cgroups *cgroups, const char *id, const struct limits *limits,
                           cgroup_oom *on_oom, void *user) {
    errno = 0;
    if (!cgroups->version)
        return NULL;
    struct cgroup *group = calloc(1, sizeof *group);
    if (!group)
        return NULL;
    *group = (struct cgroup){.cgroups = cgroups, .on_oom = on_oom, .user = user, .oom_fd = -1};
    snprintf(group->name, sizeof group->name, "%s", id);
    if (make_directories(group) < 0 || cgroups->version->limit(group, limits) < 0) {
        int saved = errno;
        remove_group(group);
        free(group);
        errno = saved;
        return NULL;
    }
    link_group(&cgroups->first, group);
    cgroup_oom_watch(group);
    return group;
}

void cgroup_free(struct cgroup *group) {
    if (!group)
        return;
    struct cgroups *cgroups = group->cgroups;
    cgroup_oom_forget(group);
    unlink_group(&cgroups->first, group);
    if (remove_group(group)) {
        free(group);
        return;
    }
    link_group(&cgroups->dying, group);
    ev_timer_again(cgroups->loop, &cgroups->retry);
}

int cgroup_open_join(const struct cgroup *group, int fds[CGROUP_JOIN_MAX]) {
    const struct cgroups *cgroups = group->cgroups;
    char path[CGROUP_NAME_MAX + 16];
    snprintf(path, sizeof path, "%s/cgroup.procs", group->name);
    for (size_t i = 0; i < cgroups->count; i++) {
        fds[i] = openat(cgroups->hierarchies[i].fd, path, O_WRONLY | O_CLOEXEC);
        if (fds[i] < 0) {
            int saved = errno;
            while (i > 0)
                close(fds[--i]);
            errno = saved;
            return -1;
        }
    }
    return (int)cgroups->count;
}

int cgroup_join(const int *fds, int count) {
    for (int i = 0; i < count; i++)
        if (write(fds[i], "0", 1) != 1)
            return -1;
    return 0;
}

int cgroup_add(struct cgroup *group, pid_t pid) {
    const struct cgroups *cgroups = group->cgroups;
    for (size_t i = 0; i < cgroups->count; i++)
        if (cgroup_file_write_number(cgroups->hierarchies[i].fd, group->name, "cgroup.procs", pid) <
            0)
            return -1;
    return 0;
}

int cgroup_freeze(struct cgroup *group, bool freeze) {
    return group->cgroups->version->freeze(group, freeze);
}

bool cgroup_is_frozen(const struct cgroup *group) {
    return group->cgroups->version->is_frozen(group);
}

void cgroup_kill(struct cgroup *group) {
    group->cgroups->version->kill(group);
}

void cgroup_read_stats(const struct cgroup *group, struct cgroup_stats *stats) {
    group->cgroups->version->read_stats(group, stats);
}
