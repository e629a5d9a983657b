/*
 * enter.c - from the zygote into a sandbox.
 *
 * Three processes in a row: the first enters the namespaces, but only its children are in the PID
 * namespace; the second is such a child, and its end hands the third to the sandbox's process 1,
 * which otherwise would get no news of it. The first two live for a millisecond.
 */
#include "zygote.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL_NAMESPACES                                                                             \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |     \
     CLONE_NEWCGROUP)

/* Writing 0 there moves the writer; whoever it forks is in the group from the beginning. */
static void join_groups(const struct zygote_job *job, const int fds[JOB_FDS_MAX]) {
    for (uint32_t i = 0; i < job->groups; i++)
        if (write(fds[JOB_FDS + i], "0", 1) != 1)
            fail_job(fds[JOB_REPORT], STAGE_GROUPS);
}

void enter_sandbox(const struct zygote_job *job, const int fds[JOB_FDS_MAX]) {
    pid_t zygote = getppid();
    join_groups(job, fds);
    if (setns(fds[JOB_INIT], ALL_NAMESPACES) < 0)
        fail_job(fds[JOB_REPORT], STAGE_NAMESPACES);
    /* The change of rights has reset it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != zygote)
        _exit(1);
    signal(SIGCHLD, SIG_DFL);
    /* The second shares this memory, and this process waits while it does. */
    pid_t second = vfork();
    if (second == 0) {
        pid_t third = fork();
        if (third == 0)
            return;
        _exit(third < 0);
    }
    int status = 1;
    if (second > 0)
        waitpid(second, &status, 0);
    if (status != 0)
        fail_job(fds[JOB_REPORT], STAGE_FORK);
    _exit(0);
}
