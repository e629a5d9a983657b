#include "namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A namespace of the process, and the user namespace that it belongs to. */
static int open_one(pid_t pid, const char *name, int *fd, int *owner_fd) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/ns/%s", (long)pid, name);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    *owner_fd = *fd < 0 ? -1 : ioctl(*fd, NS_GET_USERNS);
    if (*owner_fd < 0)
        return -1;
    return fcntl(*owner_fd, F_SETFD, FD_CLOEXEC);
}

int namespaces_open(struct namespaces *ns, pid_t pid, int pidfd) {
    if (open_one(pid, "net", &ns->net_fd, &ns->net_user_fd) < 0 ||
        open_one(pid, "mnt", &ns->mount_fd, &ns->mount_user_fd) < 0)
        return -1;
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    if (poll(&ended, 1, 0) == 0)
        return 0;
    errno = ESRCH;
    return -1;
}

static int enter(const struct namespaces *ns, namespace_kind kind) {
    bool network = kind == INSIDE_NETWORK;
    if (setns(network ? ns->net_user_fd : ns->mount_user_fd, CLONE_NEWUSER) < 0)
        return -1;
    return setns(network ? ns->net_fd : ns->mount_fd, network ? CLONE_NEWNET : CLONE_NEWNS);
}

/* In the new process: it must not outlive us, nor handle our signals. */
static void settle(pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
}

static void run_inside(const struct namespaces *ns, namespace_kind kind, inside_work *work,
                       void *user, int report_fd) __attribute__((noreturn));
static void run_inside(const struct namespaces *ns, namespace_kind kind, inside_work *work,
                       void *user, int report_fd) {
    char message[512] = "";
    if (enter(ns, kind) < 0)
        snprintf(message, sizeof message, "cannot enter the sandbox's namespaces: %s",
                 strerror(errno));
    else if (work(user, message, sizeof message) == 0)
        _exit(0);
    dprintf(report_fd, "%s", message);
    _exit(1);
}

/* What the process has written, up to its end. */
static void read_report(int fd, char *message, size_t room) {
    size_t used = 0;
    ssize_t got;
    while (used < room - 1 &&
           ((got = read(fd, message + used, room - 1 - used)) > 0 || (got < 0 && errno == EINTR)))
        used += got > 0 ? (size_t)got : 0;
    message[used] = '\0';
}

int inside_run(const struct namespaces *ns, namespace_kind kind, inside_work *work, void *user,
               char *message, size_t room) {
    int report[2];
    pid_t parent = getpid();
    pid_t pid = pipe2(report, O_CLOEXEC) < 0 ? -1 : fork();
    if (pid == 0) {
        settle(parent);
        run_inside(ns, kind, work, user, report[1]);
    }
    if (pid < 0) {
        snprintf(message, room, "cannot start a process: %s", strerror(errno));
        return -1;
    }
    close(report[1]);
    read_report(report[0], message, room);
    close(report[0]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (!message[0])
        snprintf(message, room, "a process in the sandbox's namespaces ended with %s %d",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return -1;
}

static void be_anchor(const struct namespaces *ns, int ready_fd) __attribute__((noreturn));
static void be_anchor(const struct namespaces *ns, int ready_fd) {
    if (enter(ns, INSIDE_NETWORK) < 0)
        _exit(127);
    /* Entering has made /proc/PID of this process root's. */
    prctl(PR_SET_DUMPABLE, 1);
    if (write(ready_fd, "", 1) != 1)
        _exit(127);
    for (;;)
        pause();
}

pid_t inside_anchor(const struct namespaces *ns) {
    int ready[2];
    pid_t parent = getpid();
    pid_t pid = pipe2(ready, O_CLOEXEC) < 0 ? -1 : fork();
    if (pid == 0) {
        settle(parent);
        be_anchor(ns, ready[1]);
    }
    if (pid < 0)
        return -1;
    /* Whoever looked at it before it has entered would find the host's network. */
    close(ready[1]);
    char byte;
    ssize_t got;
    while ((got = read(ready[0], &byte, 1)) < 0 && errno == EINTR)
        continue;
    close(ready[0]);
    if (got == 1)
        return pid;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    errno = EPERM;
    return -1;
}

int inside_keep_capability(int capability) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) < 0)
        return -1;
    sets[CAP_TO_INDEX(capability)].inheritable |= CAP_TO_MASK(capability);
    if (syscall(SYS_capset, &header, sets) < 0)
        return -1;
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
}
