#include "bwrap_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bwrap_args.h"
#include "control_socket.h"
#include "ipc_namespace.h"
#include "namespace_counts.h"
#include "process.h"
#include "remedy.h"
#include "sandbox_rlimits.h"
#include "sandbox_root.h"

/* Every descriptor of a start, -1 when not open. The child's ends are closed in the engine after
 * the fork. */
struct ends {
    int control[2], status[2], errors[2], go[2];
    int null_fd;
};

static void close_one(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_childs(struct ends *ends) {
    close_one(&ends->control[1]);
    close_one(&ends->status[1]);
    close_one(&ends->errors[1]);
    close_one(&ends->go[0]);
    close_one(&ends->null_fd);
}

static void close_all(struct ends *ends) {
    close_childs(ends);
    close_one(&ends->control[0]);
    close_one(&ends->status[0]);
    close_one(&ends->errors[0]);
    close_one(&ends->go[1]);
}

/* A pipe whose reading end does not block. */
static int status_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static int open_ends(struct ends *ends) {
    *ends = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, -1};
    if (control_socket_pair(ends->control) < 0 || status_pipe(ends->status) < 0 ||
        status_pipe(ends->errors) < 0 || pipe2(ends->go, O_CLOEXEC) < 0)
        return -1;
    ends->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    return ends->null_fd < 0 ? -1 : 0;
}

/* Finds bwrap on PATH, so that a missing one is told apart from everything else. 0, or -1 with
 * errno. */
static int find_bwrap(char out[PATH_MAX]) {
    const char *path = getenv("PATH");
    if (!path || !*path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        size_t length = strcspn(path, ":");
        /* Only absolute directories: the engine's own directory means nothing to whoever started
         * it. */
        if (path[0] == '/' && snprintf(out, PATH_MAX, "%.*s/bwrap", (int)length, path) < PATH_MAX &&
            access(out, X_OK) == 0)
            return 0;
        path += length + (path[length] == ':');
    }
    strcpy(out, "bwrap");
    errno = ENOENT;
    return -1;
}

static void fail_child(const char *what) __attribute__((noreturn));
static void fail_child(const char *what) {
    dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
    _exit(127);
}

/* Inherited by bwrap although the engine opened it close-on-exec. */
static void keep(int fd) {
    fcntl(fd, F_SETFD, 0);
}

/* bubblewrap's arguments in a descriptor that it inherits; -1 with errno. */
static int write_args(const struct ends *ends, const bwrap_spec *spec,
                      const struct sandbox_root *root) {
    argument_list list = {0};
    bwrap_args_build(&list, &(bwrap_sandbox){.id = spec->id,
                                             .template_id = spec->template_id,
                                             .status_fd = ends->status[1],
                                             .root = root});
    int fd = memfd_create("stepbox-args", 0);
    if (list.failed)
        errno = ENOMEM;
    else if (fd >= 0 && write(fd, list.bytes, list.used) == (ssize_t)list.used &&
             lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    return -1;
}

/* The engine has put us where we belong, or is gone. */
static void wait_for_go(const struct ends *ends) {
    char byte;
    close(ends->go[1]);
    if (read(ends->go[0], &byte, 1) != 1)
        _exit(127);
}

/* The new process, up to exec. */
static void run_child(const struct ends *ends, const bwrap_spec *spec, const char *bwrap,
                      pid_t engine) __attribute__((noreturn));
static void run_child(const struct ends *ends, const bwrap_spec *spec, const char *bwrap,
                      pid_t engine) {
    struct sandbox_root root = {.payload = spec->payload,
                                .ids = &spec->ids,
                                .size = (uint64_t)spec->limits->disk,
                                .snapshot_fd = spec->snapshot_fd,
                                .tree = spec->isolation->tree,
                                .local = &spec->isolation->local,
                                .bwrap = bwrap};
    if (dup2(ends->null_fd, 0) < 0 || dup2(ends->errors[1], 1) < 0 || dup2(ends->errors[1], 2) < 0)
        _exit(127);
    setsid(); /* Ctrl-C at the engine's terminal is the engine's business */
    if (cgroup_join(spec->join, spec->join_count) < 0)
        fail_child("cannot join the control group of the sandbox");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != engine)
        _exit(127);
    wait_for_go(ends);
    /* A new session keyring, empty: that of whoever started the engine would be inherited. It is no
     * matter where the kernel has none. */
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
    if (chdir("/") < 0)
        fail_child("cannot enter /");
    sandbox_root_choose_stage(&root);
    if (user_namespace_enter(&spec->ids, root.mounts) < 0)
        _exit(127);
    sandbox_rlimits_apply(spec->limits);
    /* The change of user has reset it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != engine)
        _exit(127);
    if (sandbox_root_build(&root) < 0)
        _exit(127);
    /* With one id bubblewrap makes another one in it, and forbids more. */
    if (namespace_counts_limit(spec->ids.kind == IDS_SINGLE) < 0)
        fail_child("nested user namespaces cannot be forbidden");
    if (spec->ids.kind != IDS_SINGLE && ipc_namespace_enter(spec->limits->memory) < 0)
        fail_child("a namespace of System V objects");
    int args_fd = write_args(ends, spec, &root);
    if (args_fd < 0)
        fail_child("the arguments of bubblewrap");

    keep(ends->status[1]);
    keep(ends->control[1]);
    keep(spec->filter_fd);
    char args_number[16], control_number[16], filter_number[16], memory[32], cpus[32], data[32],
        output[32];
    snprintf(args_number, sizeof args_number, "%d", args_fd);
    snprintf(control_number, sizeof control_number, "%d", ends->control[1]);
    snprintf(filter_number, sizeof filter_number, "%d", spec->filter_fd);
    snprintf(memory, sizeof memory, "%lld", (long long)spec->limits->memory);
    snprintf(cpus, sizeof cpus, "%g", spec->limits->cpus);
    bool alone = spec->join_count == 0;
    snprintf(data, sizeof data, "%lld", (long long)sandbox_runner_data(spec->limits, alone));
    snprintf(output, sizeof output, "%lld", (long long)limits_output(spec->limits));
    char *const argv[] = {"bwrap",        "--args",
                          args_number,    "--",
                          PAYLOAD_AGENT,  "--control",
                          control_number, "--filter",
                          filter_number,  "--memory",
                          memory,         "--cpus",
                          cpus,           "--output",
                          output,         "--runner-data",
                          data,           alone ? "--program-data" : NULL,
                          data,           NULL};
    char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C", NULL};
    execve(bwrap, argv, environment);
    fail_child(bwrap);
}

int bwrap_spawn(bwrap_process *process, const bwrap_spec *spec, char *message, size_t room) {
    char bwrap[PATH_MAX];
    strcpy(bwrap, spec->bwrap);
    if (bwrap[0] ? access(bwrap, X_OK) < 0 : find_bwrap(bwrap) < 0) {
        remedy_no_bwrap(bwrap, errno, message, room);
        return -1;
    }
    struct ends ends;
    pid_t pid = -1;
    pid_t engine = getpid();
    if (open_ends(&ends) == 0) {
        pid = process_fork();
        if (pid == 0)
            run_child(&ends, spec, bwrap, engine);
    }
    if (pid < 0) {
        snprintf(message, room, "the sandbox could not be started: %s", strerror(errno));
        close_all(&ends);
        return -1;
    }
    *process = (bwrap_process){pid, ends.control[0], ends.status[0], ends.errors[0], ends.go[1]};
    close_childs(&ends);
    return 0;
}
