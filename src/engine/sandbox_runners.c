/* sandbox_runners.c - what a sandbox gives to the runners that are forked into it. */
#include "sandbox_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "log.h"
#include "sandbox_rlimits.h"
#include "zygote.h"

static int init_fd(void *user) {
    return ((const struct sandbox *)user)->process.init_fd;
}

static void answer(control_message *message, void *user) {
    struct sandbox *sandbox = user;
    if (sandbox_link_send_message(sandbox, message) < 0)
        log_debug("sandbox %s does not take its runner", sandbox->record.id);
}

static int groups(int fds[JOB_GROUPS_MAX], void *user) {
    const struct sandbox *sandbox = user;
    return sandbox->cgroup ? cgroup_open_join(sandbox->cgroup, fds) : 0;
}

_Static_assert(CGROUP_JOIN_MAX <= JOB_GROUPS_MAX, "a job has room for all groups");

static void take_listener(int fd, void *user) {
    struct sandbox *sandbox = user;
    if (refused_calls_add(sandbox->refused, fd) < 0)
        log_warn("sandbox %s: refused calls of a runner are not counted: %s", sandbox->record.id,
                 strerror(errno));
}

void sandbox_runners_open(struct sandbox *sandbox) {
    struct sandboxes *set = sandbox->set;
    uint64_t data = (uint64_t)sandbox_runner_data(&sandbox->record.limits, !sandbox->cgroup);
    const struct syscall_filter *filter = refused_set_filter(set->refused);
    sandbox->runners = runner_jobs_new(
        &(runner_jobs_config){.loop = sandbox_loop(sandbox),
                              .zygotes = set->zygotes,
                              .zygote_number = &sandbox->zygote,
                              .init_fd = init_fd,
                              .answer = answer,
                              .groups = groups,
                              .listener = take_listener,
                              .filter_fd = syscall_filter_fd(filter),
                              .processes = (uint64_t)sandbox->record.limits.processes,
                              .data = data,
                              .most_data = sandbox->cgroup ? RLIM_INFINITY : data,
                              .user = sandbox});
    zygotes_expect(set->zygotes);
}

bool sandbox_runners_take(struct sandbox *sandbox, control_message *message) {
    return sandbox->runners && runner_jobs_take(sandbox->runners, message);
}

void sandbox_runners_close(struct sandbox *sandbox) {
    runner_jobs_free(sandbox->runners);
    sandbox->runners = NULL;
    zygotes_leave(sandbox->set->zygotes, sandbox->zygote);
    sandbox->zygote = 0;
}

json_t *sandbox_runners_describe(const struct sandbox *sandbox) {
    json_t *object = sandbox->runners ? runner_jobs_describe(sandbox->runners) : NULL;
    if (object && sandbox->zygote)
        json_object_set_new(object, "zygote", json_integer((json_int_t)sandbox->zygote));
    return object;
}
