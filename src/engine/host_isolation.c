#include "host_isolation.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "process.h"
#include "sandbox_root.h"

#define TRIED_SIZE (16ull * 1024 * 1024)

static void try_in_child(const struct sandbox_ids *ids, enum system_tree tree, int errors_fd)
    __attribute__((noreturn));
static void try_in_child(const struct sandbox_ids *ids, enum system_tree tree, int errors_fd) {
    struct sandbox_root root = {
        .snapshot_fd = -1, .ids = ids, .size = TRIED_SIZE, .tree = tree, .bwrap = "/usr/bin/bwrap"};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(errors_fd, STDERR_FILENO);
    if (chdir("/") < 0 || user_namespace_enter(ids, root.mounts) < 0)
        _exit(1);
    for (int i = 0; i < HOST_TREES && tree == TREE_WRITABLE; i++)
        if (root.mounts[i] < 0)
            _exit(1); /* the kernel, or the host's file system, has no mapped mounts */
    sandbox_root_choose_stage(&root);
    _exit(sandbox_root_build(&root) == 0 ? 0 : 1);
}

/* Whether a process could do what a sandbox will have to. said: the first line of its complaint. */
static bool works(const struct sandbox_ids *ids, enum system_tree tree, char *said, size_t room) {
    int errors[2], status = -1;
    said[0] = '\0';
    if (pipe2(errors, O_CLOEXEC) < 0)
        return false;
    pid_t pid = process_fork();
    if (pid == 0)
        try_in_child(ids, tree, errors[1]);
    close(errors[1]);
    ssize_t got = pid < 0 ? 0 : read(errors[0], said, room - 1);
    said[got > 0 ? got : 0] = '\0';
    said[strcspn(said, "\n")] = '\0';
    close(errors[0]);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

void host_isolation_find(struct host_isolation *isolation) {
    struct id_space *space = &isolation->ids;
    struct sandbox_ids ids;
    char said[128];
    *isolation = (struct host_isolation){0};
    isolation->impossible = id_space_find(space) < 0;
    if (isolation->impossible || space->kind == IDS_SINGLE)
        return;
    id_space_cut(space, 0, &ids);
    if (space->kind == IDS_SUBORDINATE && !works(&ids, TREE_READONLY, said, sizeof said)) {
        log_info("subordinate ids cannot be used: %s", said);
        space->kind = IDS_SINGLE;
        snprintf(space->why, sizeof space->why, "subordinate ids cannot be used: %s", said);
        return;
    }
    /* Mounts with other owners are for the host's root to make. */
    if (space->kind == IDS_ROOT_RANGE && works(&ids, TREE_WRITABLE, said, sizeof said))
        isolation->tree = TREE_WRITABLE;
    else if (works(&ids, TREE_LOCAL, said, sizeof said))
        isolation->tree = TREE_LOCAL;
    if (isolation->tree != TREE_WRITABLE)
        log_info("/usr is not writable in sandboxes%s%s", *said ? ": " : "", said);
    if (isolation->tree != TREE_READONLY)
        local_tree_read(&isolation->local, LOCAL_TREE);
}

void host_isolation_free(struct host_isolation *isolation) {
    local_tree_free(&isolation->local);
}

json_t *host_isolation_describe(const struct host_isolation *isolation) {
    bool single = isolation->ids.kind == IDS_SINGLE;
    static const char *const trees[] = {"readonly", "local", "writable"};
    json_t *object = json_pack("{s:s, s:s}", "ids", single ? "single" : "range", "systemTree",
                               trees[isolation->tree]);
    if (object && single)
        json_object_set_new(object, "why", json_string(isolation->ids.why));
    return object;
}
