#include "filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control_socket.h"

/* Returns the instructions, to be freed, and how many they are; NULL with errno. */
static struct sock_filter *read_program(int fd, unsigned short *count) {
    struct stat status;
    if (fstat(fd, &status) < 0)
        return NULL;
    size_t size = status.st_size > 0 ? (size_t)status.st_size : 0;
    struct sock_filter *program = NULL;
    errno = EINVAL;
    if (size == 0 || size % sizeof *program || size / sizeof *program > BPF_MAXINSNS)
        return NULL;
    program = malloc(size);
    /* The file is whole; others may read the same description, so its position is left alone. */
    if (program && pread(fd, program, size, 0) != (ssize_t)size) {
        free(program);
        errno = EIO;
        return NULL;
    }
    *count = (unsigned short)(size / sizeof *program);
    return program;
}

/* The listener, or -1 with errno 0 when the filter is there without one, or with another errno. */
static int install(struct sock_filter *instructions, unsigned short count) {
    struct sock_fprog program = {count, instructions};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    long listener =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener >= 0)
        return (int)listener;
    /* EBUSY: an older filter of ours has one. EINVAL: the kernel has none. */
    if ((errno == EBUSY || errno == EINVAL) &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        errno = 0;
    return -1;
}

int filter_install(int program_fd, int control_fd) {
    unsigned short count;
    struct sock_filter *program = read_program(program_fd, &count);
    int saved = errno;
    close(program_fd);
    errno = saved;
    if (!program)
        return -1;
    int listener = install(program, count);
    int result = listener >= 0 || errno == 0 ? 0 : -1;
    if (listener >= 0) {
        control_connection message = {listener, 0, 0, CONTROL_LISTENER};
        if (control_socket_send(control_fd, &message) != CONTROL_OK)
            result = -1;
    }
    saved = errno;
    if (listener >= 0)
        close(listener);
    free(program);
    errno = saved;
    return result;
}
