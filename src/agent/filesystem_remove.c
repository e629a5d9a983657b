/*
 * filesystem_remove.c - removes a file, or a directory with all that is in it.
 *
 * Nothing is reached by a path of several components below the one that the client gave, and no
 * link is followed, so that whoever moves things about meanwhile cannot lead it elsewhere. It goes
 * on between the loop's other events, and stops when the client leaves. The directories on the way
 * down stay open, but not those of very deep trees: these are found again by "..", and known again
 * by device and inode.
 */
#include "filesystem_service.h"

#include "connect_messages.h"
#include "connect_unary.h"
#include "filesystem_request.h"
#include "path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What one turn of the loop removes at most. */
#define ENTRIES_PER_TURN 256
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

struct removal {
    struct ev_timer turn;
    http_request *request;
    char *path;
    int top; /* the directory that has the path's last component */
    struct level *levels;
    size_t count, capacity;
};

static void free_removal(struct removal *removal) {
    ev_timer_stop(http_request_loop(removal->request), &removal->turn);
    while (removal->count > 0) {
        struct level *level = &removal->levels[--removal->count];
        if (level->directory)
            closedir(level->directory);
        free(level->name);
    }
    if (removal->top >= 0)
        close(removal->top);
    free(removal->levels);
    free(removal->path);
    free(removal);
}

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
static int above(const struct removal *removal) {
    return removal->count > 1 ? dirfd(removal->levels[removal->count - 2].directory) : removal->top;
}

/* Goes into the directory of that name in `at`. */
static int descend(struct removal *removal, int at, const char *name) {
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
static int reopen_above(struct removal *removal) {
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
static int unlink_in(const struct removal *removal, int at, const char *name, int flags) {
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
static int ascend(struct removal *removal) {
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
static int remove_entry(struct removal *removal, int at, const char *name, int type) {
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

static int step(struct removal *removal) {
    struct level *level = &removal->levels[removal->count - 1];
    errno = 0;
    struct dirent *entry = readdir(level->directory);
    if (!entry)
        return errno ? -1 : ascend(removal);
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return 0;
    return remove_entry(removal, dirfd(level->directory), entry->d_name, entry->d_type);
}

static void finish(struct removal *removal, int error) {
    http_request *request = removal->request;
    if (error)
        filesystem_reply_error(request, "cannot remove", removal->path, error);
    else
        connect_unary_reply(request, json_object());
    free_removal(removal);
}

static void on_turn(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)events;
    struct removal *removal = timer->data;
    for (int i = 0; i < ENTRIES_PER_TURN && removal->count > 0; i++) {
        if (step(removal)) {
            finish(removal, errno);
            return;
        }
    }
    if (removal->count == 0) {
        finish(removal, 0);
        return;
    }
    ev_timer_set(timer, 0.0, 0.0);
    ev_timer_start(loop, timer);
}

static void on_gone(void *user) {
    struct removal *removal = user;
    http_request *request = removal->request;
    free_removal(removal);
    http_reply(request, 204, NULL, NULL, 0); /* lets it go */
}

/* Whether the directory is the root, the home directory or one that leads there. */
static bool is_needed(const struct agent *agent, const char *path) {
    char up[PATH_MAX];
    struct stat target, st;
    if (lstat(path, &target) || !S_ISDIR(target.st_mode) || !realpath(agent->home, up))
        return false;
    for (;;) {
        if (stat(up, &st) == 0 && st.st_dev == target.st_dev && st.st_ino == target.st_ino)
            return true;
        char *slash = strrchr(up, '/');
        if (strcmp(up, "/") == 0 || !slash)
            return false;
        slash[slash == up] = '\0';
    }
}

/* A mount point cannot go, so that it should not lose its contents either. */
static bool is_mount_point(int at, const char *name) {
    struct stat outer, inner;
    return fstat(at, &outer) == 0 && fstatat(at, name, &inner, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(inner.st_mode) && outer.st_dev != inner.st_dev;
}

/* 0; or the error, also EINPROGRESS when turns of the loop have to do it. */
static int begin(struct removal *removal) {
    size_t length;
    const char *last = path_name(removal->path, &length);
    char name[NAME_MAX + 1], *parent = strndup(removal->path, (size_t)(last - removal->path));
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
    if (remove_entry(removal, removal->top, name, DT_UNKNOWN))
        return errno;
    return removal->count > 0 ? EINPROGRESS : 0;
}

static void start(struct agent *agent, http_request *request, char *path) {
    char text[FILESYSTEM_MESSAGE_SIZE];
    size_t length;
    const char *name = path_name(path, &length);
    bool is_dots = *name == '.' && (length == 1 || (length == 2 && name[1] == '.'));
    if (is_dots || is_needed(agent, path)) {
        snprintf(text, sizeof text,
                 is_dots ? "cannot remove '%s': the path ends with a dot"
                         : "cannot remove '%s': the sandbox needs this directory",
                 path);
        connect_reply_error(request, is_dots ? "invalid_argument" : "failed_precondition", text);
        free(path);
        return;
    }
    struct removal *removal = calloc(1, sizeof *removal);
    if (!removal) {
        connect_reply_error(request, "resource_exhausted", "out of memory");
        free(path);
        return;
    }
    removal->request = request;
    removal->path = path;
    removal->top = -1;
    ev_timer_init(&removal->turn, on_turn, 0.0, 0.0);
    removal->turn.data = removal;
    int error = begin(removal);
    if (error != EINPROGRESS) {
        finish(removal, error == ENOENT ? 0 : error); /* what is not there needs no removing */
        return;
    }
    http_request_on_gone(request, on_gone, removal);
    ev_timer_start(http_request_loop(request), &removal->turn);
}

void filesystem_remove(struct agent *agent, http_request *request) {
    json_t *message = filesystem_read(request);
    if (!message)
        return;
    char *path = filesystem_path(agent, request, message, "path", connect_reply_error);
    if (path)
        start(agent, request, path);
    json_decref(message);
}
