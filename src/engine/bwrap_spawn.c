#include "bwrap_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bwrap_args.h"
#include "control_socket.h"
#include "host_uid.h"
#include "remedy.h"

/* Open files a process in the sandbox may have at first: programs loop over as many. */
#define SOFT_OPEN_FILES 4096

/* Every descriptor of a start, -1 when not open. The child's ends are closed in the engine after
 * the fork. */
struct ends {
    int control[2], status[2], errors[2];
    int null_fd, args_fd;
    int *data_fds;
    size_t data_count;
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
    close_one(&ends->null_fd);
    close_one(&ends->args_fd);
    for (size_t i = 0; i < ends->data_count; i++)
        close_one(&ends->data_fds[i]);
    free(ends->data_fds);
    ends->data_fds = NULL;
    ends->data_count = 0;
}

static void close_all(struct ends *ends) {
    close_childs(ends);
    close_one(&ends->control[0]);
    close_one(&ends->status[0]);
    close_one(&ends->errors[0]);
}

/* A pipe whose reading end does not block. */
static int status_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static int open_ends(struct ends *ends, const struct payload *payload) {
    *ends = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, -1, -1, NULL, 0};
    ends->data_fds = malloc(payload->count * sizeof *ends->data_fds);
    if (!ends->data_fds || control_socket_pair(ends->control) < 0 ||
        status_pipe(ends->status) < 0 || status_pipe(ends->errors) < 0)
        return -1;
    ends->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    ends->args_fd = memfd_create("stepbox-args", MFD_CLOEXEC);
    if (ends->null_fd < 0 || ends->args_fd < 0)
        return -1;
    while (ends->data_count < payload->count) {
        int fd = payload_open(&payload->files[ends->data_count]);
        if (fd < 0)
            return -1;
        ends->data_fds[ends->data_count++] = fd;
    }
    return 0;
}

static int write_args(struct ends *ends, const bwrap_spec *spec) {
    argument_list list = {0};
    bwrap_args_build(&list, &(bwrap_sandbox){.id = spec->id,
                                             .template_id = spec->template_id,
                                             .status_fd = ends->status[1],
                                             .payload = spec->payload,
                                             .disk = spec->limits->disk,
                                             .data_fds = ends->data_fds});
    int result = -1;
    if (list.failed)
        errno = ENOMEM;
    else if (write(ends->args_fd, list.bytes, list.used) == (ssize_t)list.used &&
             lseek(ends->args_fd, 0, SEEK_SET) == 0)
        result = 0;
    argument_list_free(&list);
    return result;
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

static void limit(int resource, rlim_t soft, rlim_t hard) {
    struct rlimit now;
    if (getrlimit(resource, &now) < 0)
        return;
    if (now.rlim_max < hard)
        hard = now.rlim_max;
    now = (struct rlimit){soft < hard ? soft : hard, hard};
    setrlimit(resource, &now);
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

static void restore_signals(void) {
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The new process, up to exec. */
static void run_child(const struct ends *ends, const bwrap_spec *spec, const char *bwrap,
                      pid_t engine) __attribute__((noreturn));
static void run_child(const struct ends *ends, const bwrap_spec *spec, const char *bwrap,
                      pid_t engine) {
    restore_signals();
    if (dup2(ends->null_fd, 0) < 0 || dup2(ends->errors[1], 1) < 0 || dup2(ends->errors[1], 2) < 0)
        _exit(127);
    setsid(); /* Ctrl-C at the engine's terminal is the engine's business */
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_NOFILE, SOFT_OPEN_FILES, (rlim_t)spec->limits->open_files);
    if (spec->host_uid && host_uid_become(spec->host_uid) < 0)
        fail_child("cannot become an unprivileged user");
    /* After the change of user, which resets it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != engine)
        _exit(127);
    if (chdir("/") < 0)
        fail_child("cannot enter /");

    keep(ends->args_fd);
    keep(ends->status[1]);
    keep(ends->control[1]);
    for (size_t i = 0; i < ends->data_count; i++)
        keep(ends->data_fds[i]);
    char args_number[16], control_number[16];
    snprintf(args_number, sizeof args_number, "%d", ends->args_fd);
    snprintf(control_number, sizeof control_number, "%d", ends->control[1]);
    char *const argv[] = {"bwrap",       "--args",    args_number,    "--",
                          PAYLOAD_AGENT, "--control", control_number, NULL};
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
    sigset_t all, before;
    sigfillset(&all);
    if (open_ends(&ends, spec->payload) == 0 && write_args(&ends, spec) == 0) {
        /* Until the child has its own signal handling, none of the engine's handlers may run in it.
         */
        sigprocmask(SIG_BLOCK, &all, &before);
        pid = fork();
        if (pid == 0)
            run_child(&ends, spec, bwrap, engine);
        int saved = errno;
        sigprocmask(SIG_SETMASK, &before, NULL);
        errno = saved;
    }
    if (pid < 0) {
        snprintf(message, room, "the sandbox could not be started: %s", strerror(errno));
        close_all(&ends);
        return -1;
    }
    *process = (bwrap_process){pid, ends.control[0], ends.status[0], ends.errors[0]};
    close_childs(&ends);
    return 0;
}
