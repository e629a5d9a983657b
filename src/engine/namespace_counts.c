/* namespace_counts.c - see namespace_counts.h */
#include "namespace_counts.h"

#include "text_file.h"

/* A quarter of what Linux gives a user (fs.inotify.max_user_instances), and watches enough for a
 * large tree. */
#define INOTIFY_INSTANCES "32"
#define INOTIFY_WATCHES "65536"

int namespace_counts_limit(bool nested) {
    /* Not all kernels have them. */
    text_file_write("/proc/sys/user/max_inotify_instances", INOTIFY_INSTANCES);
    text_file_write("/proc/sys/user/max_inotify_watches", INOTIFY_WATCHES);
    return nested ? 0 : text_file_write("/proc/sys/user/max_user_namespaces", "0");
}
