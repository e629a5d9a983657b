#include "program_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int program_run(const char *path, char *const argv[], int input_fd, char *message, size_t room) {
    int said[2];
    pid_t pid = pipe2(said, O_CLOEXEC) < 0 ? -1 : fork();
    if (pid == 0) {
        char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C", NULL};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dup2(input_fd, 0) >= 0 && dup2(said[1], 1) >= 0 && dup2(said[1], 2) >= 0)
            execve(path, argv, environment);
        dprintf(said[1], "%s: %s", path, strerror(errno));
        _exit(127);
    }
    if (pid < 0) {
        snprintf(message, room, "%s cannot be started: %s", argv[0], strerror(errno));
        return -1;
    }
    close(said[1]);
    int used = snprintf(message, room, "%s failed: ", argv[0]);
    ssize_t got;
    while ((got = read(said[0], message + used, room - 1 - (size_t)used)) > 0 ||
           (got < 0 && errno == EINTR))
        used += got > 0 ? (int)got : 0;
    message[used] = '\0';
    close(said[0]);
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}
