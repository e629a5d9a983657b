/* sandbox_cgroup.c - the control group of a sandbox: its limits, and what is said when it has no
 * more memory. */
#include "sandbox_internal.h"

#include <errno.h>

#include "log.h"
#include "sandbox_rlimits.h"

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
    struct limits effective = sandbox->record.limits;
    effective.open_files = (int)sandbox_rlimits_open_files(&effective);
    json_t *described = limits_describe(&effective);
    json_t *missing = cgroups_missing(cgroups);
    if (described) {
        json_object_set_new(described, "by", json_string(cgroups_kind(cgroups)));
        json_object_set(described, "notEnforced", missing);
    }
    json_decref(missing);
    return described;
}
