/* namespace_counts.c - see namespace_counts.h */
#include "namespace_counts.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A quarter of what Linux gives a user (fs.inotify.max_user_instances), and watches enough for a
 * large tree. */
#define INOTIFY_INSTANCES "32"
#define INOTIFY_WATCHES "65536"

static int set(const char *path, const char *value) {
    ssize_t length = (ssize_t)strlen(value);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int result = write(fd, value, (size_t)length) == length ? 0 : -1;
    close(fd);
    return result;
}

int namespace_counts_limit(bool nested) {
    /* Not all kernels have them. */
    set("/proc/sys/user/max_inotify_instances", INOTIFY_INSTANCES);
    set("/proc/sys/user/max_inotify_watches", INOTIFY_WATCHES);
    return nested ? 0 : set("/proc/sys/user/max_user_namespaces", "0");
}
