#include "kernel_settings.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int kernel_settings_mount(const char *target) {
    if (mkdir(target, 0755) < 0)
        return -1;
    /* /proc is of a namespace of processes, and only its owner may mount it: of one that ends with
     * its first process. What is below sys stays. */
    pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0)
        _exit(mount("proc", target, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? errno
                                                                                        : 0);
    int status;
    pid_t ended;
    do
        ended = child < 0 ? -1 : waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        return -1;
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
    return errno == 0 ? 0 : -1;
}
