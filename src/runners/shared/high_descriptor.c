/* high_descriptor.c - see high_descriptor.h */
#include "high_descriptor.h"

#include <errno.h>
#include <fcntl.h>

int high_descriptor(int fd, int wanted) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, wanted);
    return copy < 0 && errno == EINVAL ? fcntl(fd, F_DUPFD_CLOEXEC, 10) : copy;
}
