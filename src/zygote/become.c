/* become.c - what a new process in a sandbox gives up before it may run anything. */
#include "zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors.h"
#include "runner_message.h"

/* Where the descriptors wait until the low numbers are free. */
#define OUT_OF_THE_WAY 32
#define CHANNEL_FD 3
#define REPORT_FD 4
#define FILTER_FD 5

/* Instructions of a filter: what the kernel takes at most. */
#define FILTER_MAX BPF_MAXINSNS

static int arrange_descriptors(const int fds[JOB_FDS_MAX], int null_fd) {
    /* The sandbox's process 1 has served its purpose: its place is standard input's. */
    static const int places[JOB_FDS] = {[JOB_INIT] = 0,
                                        [JOB_OUT] = 1,
                                        [JOB_ERR] = 2,
                                        [JOB_CHANNEL] = CHANNEL_FD,
                                        [JOB_REPORT] = REPORT_FD,
                                        [JOB_FILTER] = FILTER_FD};
    int moved[JOB_FDS];
    for (int i = 0; i < JOB_FDS; i++) {
        moved[i] = fcntl(i == JOB_INIT ? null_fd : fds[i], F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
        if (moved[i] < 0)
            return -1;
    }
    for (int i = 0; i < JOB_FDS; i++)
        if (dup2(moved[i], places[i]) < 0)
            return -1;
    return close_range(FILTER_FD + 1, ~0u, 0);
}

/* The limits that process 1 has, which the engine has set, but for the one that it has raised for
 * itself alone. None is raised by it. */
static int take_limits(const struct zygote_job *job) {
    for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
        struct rlimit own, theirs;
        if (getrlimit(resource, &own) || prlimit(1, resource, NULL, &theirs))
            return -1;
        if (resource == RLIMIT_NPROC)
            theirs.rlim_cur = theirs.rlim_max = (rlim_t)job->processes;
        if (resource == RLIMIT_DATA)
            theirs = (struct rlimit){(rlim_t)job->data, (rlim_t)job->most_data};
        if (theirs.rlim_max > own.rlim_max)
            theirs.rlim_max = own.rlim_max;
        if (theirs.rlim_cur > theirs.rlim_max)
            theirs.rlim_cur = theirs.rlim_max;
        if (setrlimit(resource, &theirs))
            return -1;
    }
    return 0;
}

static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3], now[_LINUX_CAPABILITY_U32S_3];
    memset(none, 0, sizeof none);
    if (syscall(SYS_capset, &header, none) || syscall(SYS_capget, &header, now))
        return -1;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        if (now[i].effective | now[i].permitted | now[i].inheritable)
            return -1;
    return 0;
}

static int give_up_rights(const struct zygote_job *job) {
    uid_t real, effective, saved;
    gid_t group, effective_group, saved_group;
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++)
        if (prctl(PR_CAPBSET_DROP, capability))
            return -1;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    /* Where there is one id alone it is forbidden, and changes nothing that `user` could use. */
    if (setgroups(1, &job->gid) && errno != EPERM)
        return -1;
    if (setresgid(job->gid, job->gid, job->gid) || setresuid(job->uid, job->uid, job->uid) ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || drop_capabilities())
        return -1;
    getresuid(&real, &effective, &saved);
    getresgid(&group, &effective_group, &saved_group);
    errno = EPERM;
    return real == job->uid && effective == job->uid && saved == job->uid && group == job->gid &&
                   effective_group == job->gid && saved_group == job->gid
               ? 0
               : -1;
}

/* Tells the engine that the runner is in place; listener: of its filter, or -1. */
static int report_ready(int listener) {
    struct zygote_report report = {.stage = STAGE_READY};
    size_t count = listener >= 0 ? 1 : 0;
    return descriptors_send(REPORT_FD, &report, sizeof report, &listener, count, 0) == sizeof report
               ? 0
               : -1;
}

/* The program that every process of the sandbox is under. Its refusals go to a listener of its own,
 * which is the engine's: that, or -1 with errno 0 where the kernel has none, or with another. */
static int install_filter(void) {
    static struct sock_filter instructions[FILTER_MAX];
    struct stat st;
    if (fstat(FILTER_FD, &st) || st.st_size <= 0 || (size_t)st.st_size > sizeof instructions ||
        (size_t)st.st_size % sizeof *instructions ||
        pread(FILTER_FD, instructions, (size_t)st.st_size, 0) != st.st_size)
        return -1;
    struct sock_fprog program = {(unsigned short)((size_t)st.st_size / sizeof *instructions),
                                 instructions};
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    /* EBUSY: an older filter of ours has one. EINVAL: the kernel has none. */
    if (listener < 0 && (errno == EBUSY || errno == EINVAL) &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        errno = 0;
    return listener;
}

int become_runner(const struct zygote_job *job, const int fds[JOB_FDS_MAX], int null_fd) {
    static const char hello = RUNNER_HELLO;
    int report_fd = fds[JOB_REPORT];
    if (setsid() < 0 || arrange_descriptors(fds, null_fd))
        fail_job(report_fd, STAGE_DESCRIPTORS);
    umask(022);
    if (take_limits(job))
        fail_job(REPORT_FD, STAGE_LIMITS);
    if (give_up_rights(job))
        fail_job(REPORT_FD, STAGE_PRIVILEGES);
    int listener = install_filter();
    if (listener < 0 && errno != 0)
        fail_job(REPORT_FD, STAGE_FILTER);
    if (report_ready(listener))
        _exit(1);
    if (listener >= 0)
        close(listener);
    close(REPORT_FD);
    close(FILTER_FD);
    /* From now on it is a process of the sandbox like any other; Python makes it a runner's. */
    prctl(PR_SET_DUMPABLE, 1);
    int null_of_sandbox = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_of_sandbox >= 0 && (dup2(null_of_sandbox, 0) < 0 || close(null_of_sandbox)))
        _exit(1);
    if (send(CHANNEL_FD, &hello, 1, MSG_NOSIGNAL) != 1)
        _exit(1);
    return CHANNEL_FD;
}
