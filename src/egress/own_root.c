#include "own_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is mounted stands here first; every host has it. */
#define WORKPLACE "/usr"

static const char *const kept[] = {"/etc", "/usr", "/lib", "/lib32", "/lib64"};
#define KEPT (sizeof kept / sizeof *kept)

/* A directory with what is mounted in it, or a link. */
struct tree {
    char path[PATH_MAX]; /* "": none */
    char link[PATH_MAX]; /* what it says; "": it is a directory */
    int fd;
};

/* One that is not there is left out. */
static int take(struct tree *tree, const char *path) {
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : -1;
    snprintf(tree->path, sizeof tree->path, "%s", path);
    if (S_ISLNK(st.st_mode)) {
        ssize_t length = readlink(path, tree->link, sizeof tree->link - 1);
        return length > 0 ? 0 : -1;
    }
    tree->fd = (int)syscall(SYS_open_tree, AT_FDCWD, path,
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    return tree->fd < 0 ? -1 : 0;
}

/* /etc/resolv.conf may be a link to a file that a service keeps elsewhere, and replaces. */
static int take_resolvers(struct tree *tree) {
    char path[PATH_MAX];
    if (!realpath("/etc/resolv.conf", path))
        return 0;
    for (size_t i = 0; i < KEPT; i++)
        if (strncmp(path, kept[i], strlen(kept[i])) == 0 && path[strlen(kept[i])] == '/')
            return 0;
    char *slash = strrchr(path, '/');
    if (slash == path)
        return 0;
    *slash = '\0';
    return take(tree, path);
}

/* Makes the directories of a path below the current one, which begins with a slash. */
static int make_directories(char *path) {
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash)
            *slash = '\0';
        int result = mkdir(path + 1, 0755);
        if (slash)
            *slash = '/';
        if (result < 0 && errno != EEXIST)
            return -1;
        if (!slash)
            return 0;
    }
}

/* Into the current directory. */
static int put(struct tree *tree) {
    if (!tree->path[0])
        return 0;
    if (tree->link[0])
        return symlink(tree->link, tree->path + 1);
    if (make_directories(tree->path) < 0 || syscall(SYS_move_mount, tree->fd, "", AT_FDCWD,
                                                    tree->path + 1, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return -1;
    close(tree->fd);
    tree->fd = -1;
    return 0;
}

/* The one that everything stands in becomes the root, and what was is let go. */
static int change_root(void) {
    const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
        return -1;
    return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL);
}

static int enter(struct tree trees[KEPT + 1]) {
    for (size_t i = 0; i < KEPT; i++)
        if (take(&trees[i], kept[i]) < 0)
            return -1;
    if (take_resolvers(&trees[KEPT]) < 0 ||
        mount("tmpfs", WORKPLACE, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64k,mode=755") <
            0 ||
        chdir(WORKPLACE) < 0)
        return -1;
    for (size_t i = 0; i <= KEPT; i++)
        if (put(&trees[i]) < 0)
            return -1;
    return change_root();
}

int own_root_enter(void) {
    struct tree *trees = calloc(KEPT + 1, sizeof *trees);
    if (!trees)
        return -1;
    for (size_t i = 0; i <= KEPT; i++)
        trees[i].fd = -1;
    int result = enter(trees);
    int saved = errno;
    for (size_t i = 0; i <= KEPT; i++)
        if (trees[i].fd >= 0)
            close(trees[i].fd);
    free(trees);
    errno = saved;
    return result;
}
