#include "detach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"

/* For kernels (before 5.9) and filters without close_range: as many as a process usually may open.
 */
#define LAST_DESCRIPTOR 65536

static int descriptors_from(unsigned first, unsigned flags) {
    return (int)syscall(SYS_close_range, first, ~0u, flags);
}

void detach_mark_inherited(void) {
    if (descriptors_from(3, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    for (int fd = 3; fd < LAST_DESCRIPTOR; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0)
            fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
    }
}

static void close_from(int first) {
    if (descriptors_from((unsigned)first, 0) == 0)
        return;
    for (int fd = first; fd < LAST_DESCRIPTOR; fd++)
        close(fd);
}

/* The starting process: waits for the daemon's one line. */
static void relay(int from, int ready_fd) __attribute__((noreturn));
static void relay(int from, int ready_fd) {
    char line[1024];
    size_t used = 0;
    ssize_t got = 0;
    while (used < sizeof line - 1 && !memchr(line, '\n', used)) {
        got = read(from, line + used, sizeof line - 1 - used);
        if (got > 0)
            used += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    line[used] = '\0';
    char *newline = strchr(line, '\n');
    if (newline)
        *newline = '\0';
    if (newline && strcmp(line, "ready") == 0) {
        report_ready(ready_fd);
        _exit(0);
    }
    const char *prefix = "error: ";
    if (newline && strncmp(line, prefix, strlen(prefix)) == 0)
        report_error(ready_fd, line + strlen(prefix));
    else
        report_error(ready_fd, "the engine died while it was starting");
    _exit(1);
}

/* In the daemon: the report pipe becomes descriptor 3, stdio /dev/null, and the rest is closed. */
static int settle(int report_fd) {
    int null_fd = open("/dev/null", O_RDWR);
    if (null_fd < 0 || chdir("/") < 0)
        return -1;
    for (int fd = 0; fd < 3; fd++)
        if (null_fd != fd && dup2(null_fd, fd) < 0)
            return -1;
    if (report_fd != 3 && dup3(report_fd, 3, O_CLOEXEC) < 0)
        return -1;
    close_from(4);
    return 3;
}

int detach(int ready_fd) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0)
        return -1;
    pid_t child = fork();
    if (child < 0) {
        close(report[0]);
        close(report[1]);
        return -1;
    }
    if (child > 0) {
        close(report[1]);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
        relay(report[0], ready_fd);
    }
    close(report[0]);
    setsid();
    /* The second fork: not a session leader, so that it never gets a terminal; adopted, so that no
     * zombie stays. */
    pid_t grandchild = fork();
    if (grandchild != 0)
        _exit(grandchild < 0);
    int fd = settle(report[1]);
    if (fd < 0) {
        report_error(report[1], "cannot leave the terminal");
        _exit(1);
    }
    return fd;
}
