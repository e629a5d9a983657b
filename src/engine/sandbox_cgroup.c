/* sandbox_cgroup.c - the control group of a sandbox: its limits, and what is said when it has no
 * more memory. */
#include "sandbox_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "log.h"

/* Seconds between a kill by the kernel and an end of the sandbox that comes of it, at most. */
#define OOM_SECONDS 1.0

static void on_oom(int64_t kills, void *user) {
    struct sandbox *sandbox = user;
    long long limit = sandbox->record.limits.memory / LIMITS_MIB;
    sandbox->oom_at = ev_now(sandbox_loop(sandbox));
    log_warn("sandbox %s: out of memory: the kernel ended %lld of its processes (limit %lld MB)",
             sandbox->record.id, (long long)kills, limit);
    sandbox_log_add(&sandbox->log, LOG_LEVEL_WARN,
                    "out of memory: the kernel ended %lld process%s (limit %lld MB)",
                    (long long)kills, kills == 1 ? "" : "es", limit);
}

int sandbox_cgroup_open(struct sandbox *sandbox, int join[CGROUP_JOIN_MAX]) {
    sandbox->cgroup = cgroup_make(sandbox->set->config.cgroups, sandbox->record.id,
                                  &sandbox->record.limits, on_oom, sandbox);
    if (!sandbox->cgroup)
        return errno == 0 ? 0 : -1;
    return cgroup_open_join(sandbox->cgroup, join);
}

/* Like what the agent starts (spawn_limits.h): offered to the kernel before it. */
static void offer_to_kernel(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "1000", 4) != 4)
        log_debug("%s cannot be written to: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
}

int sandbox_cgroup_take(const struct sandbox *sandbox, pid_t pid) {
    rlim_t processes = (rlim_t)sandbox->record.limits.processes;
    struct rlimit limit = {processes, processes};
    if (sandbox->cgroup && cgroup_add(sandbox->cgroup, pid) < 0)
        return -1;
    /* It has those of the agent, which are a little higher. */
    if (prlimit(pid, RLIMIT_NPROC, &limit, NULL) < 0)
        return -1;
    offer_to_kernel(pid);
    return 0;
}

void sandbox_cgroup_close(struct sandbox *sandbox) {
    cgroup_free(sandbox->cgroup);
    sandbox->cgroup = NULL;
}

const char *sandbox_end_cause(struct sandbox *sandbox) {
    if (sandbox->cgroup)
        cgroup_tell_oom(sandbox->cgroup);
    ev_tstamp since = ev_now(sandbox_loop(sandbox)) - sandbox->oom_at;
    return sandbox->oom_at > 0 && since < OOM_SECONDS
               ? "its processes ended: out of memory, the kernel ended its agent"
               : "its processes ended";
}

json_t *sandbox_limits_describe(const struct sandbox *sandbox) {
    const struct cgroups *cgroups = sandbox->set->config.cgroups;
    json_t *described = limits_describe(&sandbox->record.limits);
    json_t *missing = cgroups_missing(cgroups);
    if (described) {
        json_object_set_new(described, "by", json_string(cgroups_kind(cgroups)));
        json_object_set(described, "notEnforced", missing);
    }
    json_decref(missing);
    return described;
}
