/* tree_removal.c - see tree_removal.h */
#include "tree_removal.h"

#include "path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many directories stay open. */
#define OPEN_MAX_DEPTH 64
/* How often a directory that seemed to be empty is read again, as others fill it. */
#define ROUNDS_MAX 1000

struct level {
    DIR *directory; /* NULL when it was closed on the way down */
    dev_t device;
    ino_t inode;
    char *name; /* in the level above */
    int rounds;
};

struct tree_removal {
    int top; /* the directory that has the path's last component */
    struct level *levels;
    size_t count, capacity;
};

/* Opens a directory to read it; one that is ours but closed to us is opened up first, as the
 * official server, which may everything, would not notice. */
static int open_directory(int at, const char *name) {
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 || errno != EACCES)
        return fd;
    int handle = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (handle < 0)
        return -1;
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", handle);
    if (chmod(self, 0700) == 0)
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    else
        errno = EACCES;
    int error = errno;
    close(handle);
    errno = error;
    return fd;
}

/* The descriptor of the directory that has the innermost level in it. */
static int above(const tree_removal *removal) {
    return removal->count > 1 ? dirfd(removal->levels[removal->count - 2].directory) : removal->top;
}

/* Goes into the directory of that name in `at`. */
static int descend(tree_removal *removal, int at, const char *name) {
    struct stat st;
    int fd = open_directory(at, name), error;
    if (fd < 0)
        return -1;
    if (removal->count == removal->capacity) {
        size_t capacity = removal->capacity ? removal->capacity * 2 : 32;
        struct level *grown = realloc(removal->levels, capacity * sizeof *grown);
        if (!grown) {
            close(fd);
            errno = ENOMEM;
            return -1;
        }
        removal->levels = grown;
        removal->capacity = capacity;
    }
    struct level level = {0};
    if (fstat(fd, &st) == 0 && (level.name = strdup(name)))
        level.directory = fdopendir(fd);
    if (!level.directory) {
        error = errno;
        free(level.name);
        close(fd);
        errno = error;
        return -1;
    }
    level.device = st.st_dev;
    level.inode = st.st_ino;
    if (removal->count > OPEN_MAX_DEPTH) {
        closedir(removal->levels[removal->count - 1].directory);
        removal->levels[removal->count - 1].directory = NULL;
    }
    removal->levels[removal->count++] = level;
    return 0;
}

/* Opens the level above the innermost again when it was closed. */
static int reopen_above(tree_removal *removal) {
    if (removal->count < 2 || removal->levels[removal->count - 2].directory)
        return 0;
    struct level *upper = &removal->levels[removal->count - 2];
    struct stat st;
    int inner = dirfd(removal->levels[removal->count - 1].directory);
    int fd = openat(inner, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && st.st_dev == upper->device && st.st_ino == upper->inode &&
        (upper->directory = fdopendir(fd)))
        return 0;
    close(fd);
    errno = ESTALE; /* it has been moved elsewhere */
    return -1;
}

/* Removes a name from `at`, which may be ours and only closed to writing. */
static int unlink_in(const tree_removal *removal, int at, const char *name, int flags) {
    if (unlinkat(at, name, flags) == 0)
        return 0;
    if (errno != EACCES || at == removal->top)
        return -1;
    if (fchmod(at, 0700)) {
        errno = EACCES;
        return -1;
    }
    return unlinkat(at, name, flags);
}

/* Removes the innermost directory, which has been read to its end. */
static int ascend(tree_removal *removal) {
    struct level *level = &removal->levels[removal->count - 1];
    if (reopen_above(removal))
        return -1;
    if (unlink_in(removal, above(removal), level->name, AT_REMOVEDIR) && errno != ENOENT &&
        errno != ENOTDIR) {
        /* Others may have put something in. */
        if ((errno != ENOTEMPTY && errno != EEXIST) || ++level->rounds > ROUNDS_MAX)
            return -1;
        rewinddir(level->directory);
        return 0;
    }
    closedir(level->directory);
    free(level->name);
    removal->count--;
    return 0;
}

/* Removes what has that name in `at`, or goes into it. */
static int remove_entry(tree_removal *removal, int at, const char *name, int type) {
    if (type != DT_DIR) {
        if (unlink_in(removal, at, name, 0) == 0 || errno == ENOENT)
            return 0;
        if (errno != EISDIR)
            return -1;
    }
    if (descend(removal, at, name) == 0 || errno == ENOENT)
        return 0;
    if (errno == ENOTDIR || errno == ELOOP) /* it has been exchanged for something else */
        return unlink_in(removal, at, name, 0) == 0 || errno == ENOENT ? 0 : -1;
    int error = errno;
    if (unlink_in(removal, at, name, AT_REMOVEDIR) == 0) /* also unreadable, when it is empty */
        return 0;
    errno = error;
    return -1;
}

int tree_removal_step(tree_removal *removal) {
    struct level *level = &removal->levels[removal->count - 1];
    errno = 0;
    struct dirent *entry = readdir(level->directory);
    if (!entry)
        return errno ? -1 : ascend(removal);
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return 0;
    return remove_entry(removal, dirfd(level->directory), entry->d_name, entry->d_type);
}

static bool is_mount_point(int at, const char *name) {
    struct stat outer, inner;
    return fstat(at, &outer) == 0 && fstatat(at, name, &inner, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(inner.st_mode) && outer.st_dev != inner.st_dev;
}

/* 0, or the error. */
static int begin(tree_removal *removal, const char *path) {
    size_t length;
    const char *last = path_name(path, &length);
    char name[NAME_MAX + 1], *parent = strndup(path, (size_t)(last - path));
    if (!parent)
        return ENOMEM;
    removal->top = open(*parent ? parent : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    if (removal->top < 0)
        return errno == ENOTDIR ? ENOENT : errno;
    if (length >= sizeof name)
        return ENAMETOOLONG;
    memcpy(name, last, length);
    name[length] = '\0';
    if (is_mount_point(removal->top, name))
        return EBUSY;
    return remove_entry(removal, removal->top, name, DT_UNKNOWN) ? errno : 0;
}

tree_removal *tree_removal_start(const char *path) {
    tree_removal *removal = calloc(1, sizeof *removal);
    if (!removal)
        return NULL;
    removal->top = -1;
    int error = begin(removal, path);
    if (!error)
        return removal;
    tree_removal_free(removal);
    errno = error;
    return NULL;
}

bool tree_removal_is_over(const tree_removal *removal) {
    return removal->count == 0;
}

void tree_removal_free(tree_removal *removal) {
    while (removal->count > 0) {
        struct level *level = &removal->levels[--removal->count];
        if (level->directory)
            closedir(level->directory);
        free(level->name);
    }
    if (removal->top >= 0)
        close(removal->top);
    free(removal->levels);
    free(removal);
}
