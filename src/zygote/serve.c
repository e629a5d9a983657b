/* serve.c - the zygote's loop: one fork for each job. */
#include "zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptors.h"

#define NAME "stepbox-zygote"

/* For 0 of the runners: opened here, since they must not open anything of the sandbox's at first.
 */
static int null_fd = -1;

void fail_job(int report_fd, enum zygote_stage stage) {
    struct zygote_report report = {.stage = (int32_t)stage, .error = errno};
    ssize_t sent = send(report_fd, &report, sizeof report, MSG_NOSIGNAL);
    _exit(sent == sizeof report ? 1 : 2);
}

__attribute__((visibility("default"))) int zygote_prepare(void) {
    pid_t engine = getppid();
    null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_fd < 0 || prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
        prctl(PR_SET_NAME, NAME))
        return -1;
    signal(SIGCHLD, SIG_IGN); /* nobody waits for those that have done their part */
    return getppid() == engine ? 0 : -1;
}

/* Waits for a job; ends the process when there is no engine any more. False: that was none. */
static bool receive_job(int jobs_fd, struct zygote_job *job, int fds[JOB_FDS_MAX]) {
    size_t count;
    for (int i = 0; i < JOB_FDS_MAX; i++)
        fds[i] = -1;
    ssize_t got = descriptors_receive(jobs_fd, job, sizeof *job, fds, JOB_FDS_MAX, &count, 0);
    if (got <= 0)
        _exit(got < 0);
    return got == sizeof *job && job->groups <= JOB_GROUPS_MAX && count == JOB_FDS + job->groups;
}

__attribute__((visibility("default"))) int zygote_serve(int jobs_fd, zygote_hook before_fork,
                                                        zygote_hook after_in_parent,
                                                        zygote_hook after_in_child) {
    static const char ready = ZYGOTE_READY;
    struct zygote_job job;
    int fds[JOB_FDS_MAX];
    if (send(jobs_fd, &ready, 1, MSG_NOSIGNAL) != 1)
        _exit(1);
    for (;;) {
        if (receive_job(jobs_fd, &job, fds)) {
            pid_t zygote = getpid();
            before_fork();
            pid_t child = fork();
            if (child == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() != zygote)
                    _exit(1);
                enter_sandbox(&job, fds);
                int channel = become_runner(&job, fds, null_fd);
                process_title_set();
                after_in_child();
                return channel;
            }
            int error = errno;
            after_in_parent();
            if (child < 0) {
                struct zygote_report report = {.stage = STAGE_FORK, .error = error};
                send(fds[JOB_REPORT], &report, sizeof report, MSG_NOSIGNAL);
            }
        }
        for (int i = 0; i < JOB_FDS_MAX; i++)
            if (fds[i] >= 0)
                close(fds[i]);
    }
}
