/*
 * sandbox_layers.c - see sandbox_layers.h
 *
 * This runs outside of the sandbox, where the names of files are the host's, and in a stage that
 * may have come of a snapshot: whoever was root in its sandbox has chosen what each path leads to.
 * So no path below the stage's root is left to the kernel to follow; links are not.
 */
#include "sandbox_layers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define complain sandbox_root_complain

#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 4
#endif

/* Opens a directory below the stage, by no link. -1 with errno. */
static int open_below(const struct sandbox_root *root, const char *path) {
    static const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    char name[NAME_MAX + 1];
    int at = open(root->stage, O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && *(path += strspn(path, "/"))) {
        size_t length = strcspn(path, "/");
        if (length >= sizeof name) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(name, path, length);
        name[length] = '\0';
        path += length;
        int below = openat(at, name, flags), saved = errno;
        close(at);
        errno = saved;
        at = below;
    }
    return at;
}

/* Puts a layer that takes the changes above a directory of the host. name: of its parts; target:
 * the directory of the stage where it is seen, which is taken. */
static int overlay(const struct sandbox_root *root, const char *name, const char *lower,
                   int target) {
    char upper[64], work[64], place[40], options[320];
    snprintf(upper, sizeof upper, "%s/upper-%s", root->stage, name);
    snprintf(work, sizeof work, "%s/work-%s", root->stage, name);
    snprintf(place, sizeof place, "/proc/self/fd/%d", target);
    int result = 0;
    if ((mkdir(upper, 0755) < 0 && errno != EEXIST) || mkdir(work, 0700) < 0)
        result = complain("mkdir", work);
    /* userxattr: without it the layer keeps its notes where root of a user namespace may not. */
    snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s,userxattr", lower, upper,
             work);
    if (result == 0 && mount("stepbox", place, "overlay", MS_NODEV | MS_NOSUID, options) < 0)
        result = complain("overlay", lower);
    close(target);
    return result;
}

/* One of the host's trees. number: which. */
static int overlay_tree(const struct sandbox_root *root, int number) {
    char name[16], lower[64], path[64];
    snprintf(path, sizeof path, STAGE_ROOT "%s", host_trees[number]);
    int target = open_below(root, path);
    if (target < 0) {
        /* Its root has put something else there, and that is what it gets. */
        bool is_other = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
        return root->snapshot_fd >= 0 && is_other ? 0 : complain("open", path);
    }
    snprintf(name, sizeof name, "%d", number);
    snprintf(lower, sizeof lower, "%s/lower-%d", root->stage, number);
    if (mkdir(lower, 0700) < 0) {
        close(target);
        return complain("mkdir", lower);
    }
    if (syscall(SYS_move_mount, root->mounts[number], "", AT_FDCWD, lower,
                MOVE_MOUNT_F_EMPTY_PATH) < 0) {
        close(target);
        return complain("move_mount", lower);
    }
    return overlay(root, name, lower, target);
}

/* /usr/local, with the owners that the host's files have: nobody whom the sandbox has. */
static int overlay_local(const struct sandbox_root *root) {
    char upper[64], path[PATH_MAX];
    struct stat st;
    if (lstat(LOCAL_TREE, &st) < 0 || !S_ISDIR(st.st_mode))
        return 0;
    snprintf(upper, sizeof upper, "%s/upper-local", root->stage);
    if (mkdir(upper, 0755) < 0 && errno != EEXIST)
        return complain("mkdir", upper);
    /* Those of a snapshot are there. */
    for (size_t i = 0; root->snapshot_fd < 0 && root->local && i < root->local->count; i++) {
        snprintf(path, sizeof path, "%s/%s", upper, root->local->paths[i]);
        if (mkdir(path, 0755) < 0)
            return complain("mkdir", path);
    }
    int target =
        open_below(root, root->tree == TREE_WRITABLE ? STAGE_ROOT LOCAL_TREE : STAGE_LOCAL);
    return target < 0 ? complain("open", LOCAL_TREE) : overlay(root, "local", LOCAL_TREE, target);
}

/* /usr as a layer of its own, of which nothing takes changes: locks and watches on the host's files
 * would be one for the host and all sandboxes, and so would sockets be, and the size of its disk.
 * Where the kernel cannot, it is the host's own. */
static bool layer_system(const struct sandbox_root *root) {
    char above[64], target[64], options[160];
    snprintf(above, sizeof above, "%s/above-system", root->stage);
    snprintf(target, sizeof target, "%s/" STAGE_SYSTEM, root->stage);
    snprintf(options, sizeof options, "lowerdir=%s:/usr,userxattr", above);
    return mkdir(above, 0755) == 0 && mkdir(target, 0755) == 0 &&
           mount("stepbox", target, "overlay", MS_NODEV | MS_NOSUID | MS_RDONLY, options) == 0;
}

/* The package database names groups of the host as owners of files, and dpkg does nothing as long
 * as there is one that it does not know. */
static int forget_owners(const struct sandbox_root *root) {
    int directory = open_below(root, STAGE_ROOT "/var/lib/dpkg");
    if (directory < 0)
        return errno == ENOENT ? 0 : complain("open", "/var/lib/dpkg");
    int fd = openat(directory, "statoverride", O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    int saved = errno;
    close(directory);
    errno = saved;
    if (fd < 0)
        return errno == ENOENT ? 0 : complain("open", "/var/lib/dpkg/statoverride");
    close(fd);
    return 0;
}

int sandbox_layers_put(struct sandbox_root *root) {
    bool writable = root->tree == TREE_WRITABLE;
    for (int i = 0; i < HOST_TREES; i++)
        if (writable && root->mounts[i] >= 0 && overlay_tree(root, i) < 0)
            return -1;
    root->layered = !writable && layer_system(root);
    if (root->tree != TREE_READONLY && overlay_local(root) < 0)
        return -1;
    /* In a snapshot that is done, or was undone by its root. */
    return writable && root->snapshot_fd < 0 ? forget_owners(root) : 0;
}
