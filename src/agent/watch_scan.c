/*
 * watch_scan.c - reads the directories of a watch: at its start to find all that are below it, and
 * later those that are new.
 *
 * A directory is watched before it is read, so that nothing in it is missed. What is made between
 * the two comes twice, by reading and as an event: the names that were read are kept until all
 * events have been used that were waiting when the reading ended; but not more than SEEN_MAX.
 */
#include "watch_internal.h"

#include "filesystem_request.h"
#include "mount_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beyond it an event may be reported twice. */
#define SEEN_MAX 100000

#define MASK                                                                                       \
    (IN_CREATE | IN_DELETE | IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO |                 \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

static void forget_descriptor(int wd, void *user) {
    directory_watch *watch = user;
    inotify_rm_watch(watch->fd, wd); /* which the kernel may have done already */
}

void watch_forget(directory_watch *watch, watch_node *node) {
    watch_tree_remove(&watch->tree, node, forget_descriptor, watch);
}

void watch_scan_add(directory_watch *watch, watch_node *node, bool report) {
    node->report = report;
    node->scan_next = NULL;
    if (watch->scan_last)
        watch->scan_last->scan_next = node;
    else
        watch->scan_first = node;
    watch->scan_last = node;
}

/* The path of a node's directory, or of a name in it. */
static bool full_path(const directory_watch *watch, const watch_node *node, const char *name,
                      char *path) {
    char relative[PATH_MAX];
    return watch_tree_path(node, name, relative, sizeof relative) &&
           snprintf(path, PATH_MAX, "%s/%s", watch->path, relative) < PATH_MAX;
}

static bool is_passed_over(int error) {
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES;
}

int watch_adopt(directory_watch *watch, watch_node *parent, const char *name, bool report) {
    char path[PATH_MAX];
    int flags = parent ? MASK | IN_DONT_FOLLOW : MASK;
    if (!parent)
        snprintf(path, sizeof path, "%s", watch->path);
    else if (!full_path(watch, parent, name, path))
        return watch_end_for(watch, "cannot watch all below", watch->shown, ENAMETOOLONG);
    int wd = inotify_add_watch(watch->fd, path, (uint32_t)flags);
    if (wd < 0 && is_passed_over(errno) && parent)
        return 0;
    if (wd < 0 && errno == ENOSPC)
        return watch_end(watch, "resource_exhausted",
                         "too many directories are watched: the limit fs.inotify.max_user_watches "
                         "is reached");
    if (wd < 0)
        return watch_end_for(watch, "cannot watch", path, errno);
    watch_node *known = watch_tree_find(&watch->tree, wd);
    if (known) {
        known->moved = false;
        if (known->parent && (known->parent != parent || strcmp(known->name, name) != 0))
            watch_tree_move(known, parent, name);
        return 0;
    }
    if (watch->tree.count >= WATCH_DIRECTORIES_MAX) {
        char text[100];
        snprintf(text, sizeof text, "more than %d directories would have to be watched",
                 WATCH_DIRECTORIES_MAX);
        return watch_end(watch, "resource_exhausted", text);
    }
    watch_node *node = watch_tree_add(&watch->tree, parent, name, wd);
    if (!node)
        return watch_end_for(watch, "cannot watch", path, ENOMEM);
    if (watch->recursive)
        watch_scan_add(watch, node, report);
    return 0;
}

/* Whether what is mounted there is not to be watched. */
static bool is_excluded(const directory_watch *watch, int fd) {
    struct statfs mount;
    return fstatfs(fd, &mount) == 0 &&
           (mount_is_kernel(&mount) || (!watch->network_mounts && mount_is_network(&mount)));
}

/* Opens the first directory that has to be read. False: it is passed over. */
static bool open_scan(directory_watch *watch) {
    watch_node *node = watch->scan_first;
    char path[PATH_MAX];
    struct stat st;
    if (!full_path(watch, node, "", path))
        return false;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (node->parent ? O_NOFOLLOW : 0));
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0)
        node->device = st.st_dev;
    if (node->parent && node->device != node->parent->device && is_excluded(watch, fd)) {
        close(fd);
        return false;
    }
    watch->scan = fdopendir(fd);
    if (!watch->scan)
        close(fd);
    return watch->scan != NULL;
}

/* The first directory has been read. */
static void next_scan(directory_watch *watch) {
    watch_node *node = watch->scan_first;
    int waiting = 0;
    watch->scan_first = node->scan_next;
    if (!watch->scan_first)
        watch->scan_last = NULL;
    if (watch->scan)
        closedir(watch->scan);
    watch->scan = NULL;
    if (node->seen && ioctl(watch->fd, FIONREAD, &waiting) == 0)
        node->seen_until = watch->position + (watch->end - watch->at) + (unsigned)waiting;
}

void watch_scan_forget_seen(directory_watch *watch) {
    const watch_tree *tree = &watch->tree;
    for (size_t i = 0; watch->seen_count && i < tree->bucket_count; i++) {
        for (watch_node *node = tree->buckets[i]; node; node = node->chain) {
            json_decref(node->seen);
            node->seen = NULL;
        }
    }
    watch->seen_count = 0;
}

static bool is_directory(const directory_watch *watch, const struct dirent *entry) {
    struct stat st;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(dirfd(watch->scan), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(st.st_mode);
}

static int take_entry(directory_watch *watch, watch_node *node, const struct dirent *entry) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return 0;
    if (node->report) {
        if (!node->seen)
            node->seen = json_object();
        if (watch->seen_count < SEEN_MAX &&
            json_object_set_new_nocheck(node->seen, entry->d_name, json_true()) == 0)
            watch->seen_count++;
        watch_report(watch, node, entry->d_name, WATCH_CREATE);
    }
    return is_directory(watch, entry) ? watch_adopt(watch, node, entry->d_name, node->report) : 0;
}

int watch_scan_some(directory_watch *watch, int entries) {
    while (watch->scan_first && !watch->paused && entries-- > 0) {
        if (!watch->scan && !open_scan(watch)) {
            next_scan(watch);
            continue;
        }
        struct dirent *entry = readdir(watch->scan);
        if (!entry)
            next_scan(watch);
        else if (take_entry(watch, watch->scan_first, entry))
            return -1;
    }
    return 0;
}

void watch_scan_stop(directory_watch *watch) {
    if (watch->scan)
        closedir(watch->scan);
    watch->scan = NULL;
    watch->scan_first = watch->scan_last = NULL;
}
