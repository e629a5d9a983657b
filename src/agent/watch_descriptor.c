/* watch_descriptor.c - see watch_descriptor.h */
#include "watch_descriptor.h"

#include <stddef.h>
#include <sys/inotify.h>
#include <unistd.h>

static int kept[WATCH_DESCRIPTORS_KEPT];
static size_t count;

int watch_descriptor_take(void) {
    char events[16 * 1024];
    if (count == 0)
        return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    int fd = kept[--count];
    /* What came before, not least that changes were lost, is not the new watch's. */
    while (read(fd, events, sizeof events) > 0)
        ;
    return fd;
}

void watch_descriptor_give(int fd) {
    if (count < WATCH_DESCRIPTORS_KEPT)
        kept[count++] = fd;
    else
        close(fd);
}
