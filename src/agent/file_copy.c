/* file_copy.c - see file_copy.h */
#include "file_copy.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#define BUFFER_SIZE (256 * 1024)

/* What the kernel does not copy by itself goes through memory. */
static ssize_t copy_through(int from, int to) {
    static char buffer[BUFFER_SIZE];
    ssize_t got, done = 0;
    do {
        got = read(from, buffer, sizeof buffer);
    } while (got < 0 && errno == EINTR);
    while (done < got) {
        ssize_t written = write(to, buffer + done, (size_t)(got - done));
        if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0)
            done += written;
    }
    return got;
}

ssize_t file_copy(int from, int to) {
    ssize_t copied;
    do {
        copied = copy_file_range(from, NULL, to, NULL, FILE_COPY_SLICE, 0);
    } while (copied < 0 && errno == EINTR);
    bool unable =
        copied < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP);
    /* At the end, too: some files of the kernel's own seem empty to it. */
    return copied == 0 || unable ? copy_through(from, to) : copied;
}
