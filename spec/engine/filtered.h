/*
 * filtered.h - child processes under the filter of system calls, as in a sandbox.
 */
#ifndef STEPBOX_SPEC_FILTERED_H
#define STEPBOX_SPEC_FILTERED_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control_socket.h"
#include "syscall_filter.h"

/* Puts the caller under the filter. Returns the listener; -1 with flags 0. */
static inline int filtered_install(const struct syscall_filter *filter, unsigned flags) {
    static struct sock_filter code[BPF_MAXINSNS];
    ssize_t size = pread(syscall_filter_fd(filter), code, sizeof code, 0);
    struct sock_fprog program = {(unsigned short)((size_t)size / sizeof *code), code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (result < 0)
        _exit(99);
    return flags ? (int)result : -1;
}

typedef int filtered_body(void *argument);

/* Starts a child that has the listener sent to *listener (NULL: the kernel answers by itself), and
 * ends with what the body returns. */
static inline pid_t filtered_start(const struct syscall_filter *filter, int *listener,
                                   filtered_body *body, void *argument) {
    int ends[2];
    if (control_socket_pair(ends))
        return -1;
    pid_t child = fork();
    if (child == 0) {
        int fd = filtered_install(filter, listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0);
        close(ends[0]);
        if (listener &&
            control_socket_send(ends[1], &(control_connection){fd, 0, 0, CONTROL_LISTENER}))
            _exit(98);
        close(fd);
        close(ends[1]);
        _exit(body(argument));
    }
    close(ends[1]);
    control_connection message = {.fd = -1};
    control_result result = listener ? CONTROL_AGAIN : CONTROL_OK;
    while (result == CONTROL_AGAIN) {
        usleep(1000);
        result = control_socket_receive(ends[0], &message);
    }
    close(ends[0]);
    if (listener)
        *listener = message.fd;
    return child;
}

/* Waits for a child; its exit status, or 128 and the signal. */
static inline int filtered_wait(pid_t child) {
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
