/* replace_file.c - writes a file so that whoever reads it meanwhile sees the old one or the new
 * one, and none that is half written. */
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that are tried for the new file until it has a name. */
#define TRIES 16

static int write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno != EINTR)
            return -1;
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* Beside the file, since a rename goes no further. Its mode is what the umask makes it. */
static int open_beside(const char *path, char name[PATH_MAX]) {
    for (int i = 0; i < TRIES; i++) {
        unsigned long number;
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return -1;
        int length = snprintf(name, PATH_MAX, "%s.%lx~", path, number);
        if (length < 0 || length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Closes; -1 keeps the errno of what failed first. */
static int finish(int fd, int status) {
    int error = errno;
    int closed = close(fd);
    if (status != 0)
        errno = error;
    return status != 0 ? status : closed;
}

/* What is no file, a pipe or /dev/stdout, is written to. */
static int write_through(const char *path, const char *bytes, size_t length) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -1 : finish(fd, write_all(fd, bytes, length));
}

/* What is to be replaced. */
struct target {
    char path[PATH_MAX];
    struct stat there;
    bool is_there;
    bool is_made; /* by find_target(): an empty file */
};

/* A link stays one, and what it leads to is replaced. Where that is not there it is made first:
 * else nobody could tell where it is. */
static int find_target(const char *path, struct target *target) {
    struct stat link;
    *target = (struct target){0};
    target->is_there = stat(path, &target->there) == 0;
    if (!target->is_there && lstat(path, &link) == 0 && S_ISLNK(link.st_mode)) {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 || finish(fd, fstat(fd, &target->there)) != 0)
            return -1;
        target->is_there = target->is_made = true;
    }
    if (target->is_there)
        return realpath(path, target->path) ? 0 : -1;
    if (snprintf(target->path, PATH_MAX, "%s", path) < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* Takes away what find_target() has made; errno stays. */
static void forget_target(const struct target *target) {
    int error = errno;
    if (target->is_made)
        unlink(target->path);
    errno = error;
}

static int write_beside(const struct target *target, const char *bytes, size_t length) {
    char name[PATH_MAX];
    int fd = open_beside(target->path, name);
    if (fd < 0)
        return -1;
    int status = target->is_there ? fchmod(fd, target->there.st_mode & 0777) : 0;
    if (status == 0)
        status = write_all(fd, bytes, length);
    if (status == 0)
        status = fsync(fd);
    status = finish(fd, status);
    if (status == 0)
        status = rename(name, target->path);
    if (status != 0) {
        int error = errno;
        unlink(name);
        errno = error;
    }
    return status;
}

static int replace(const char *path, const char *bytes, size_t length) {
    struct target target;
    if (find_target(path, &target) != 0)
        return -1;
    if (target.is_there && !S_ISREG(target.there.st_mode))
        return write_through(path, bytes, length);
    int status = write_beside(&target, bytes, length);
    if (status != 0)
        forget_target(&target);
    return status;
}

/* As far as can be told without doing it: nothing is opened that could keep us waiting, and nothing
 * is left behind. */
static int try_replace(const char *path) {
    char name[PATH_MAX];
    struct target target;
    if (find_target(path, &target) != 0)
        return -1;
    int status = target.is_there ? faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) : 0;
    if (status == 0 && target.is_there && S_ISDIR(target.there.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (status == 0 && (!target.is_there || S_ISREG(target.there.st_mode))) {
        int fd = open_beside(target.path, name);
        status = fd < 0 ? -1 : finish(fd, unlink(name));
    }
    forget_target(&target);
    return status;
}

/* can_replace_file(path) -> true | nil, message, code */
static int can_replace_file(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    if (try_replace(path) != 0)
        return console_failure(L, path);
    lua_pushboolean(L, 1);
    return 1;
}

/* replace_file(path, bytes) -> true | nil, message, code */
static int replace_file(lua_State *L) {
    size_t length;
    const char *path = luaL_checkstring(L, 1), *bytes = luaL_checklstring(L, 2, &length);
    if (replace(path, bytes, length) != 0)
        return console_failure(L, path);
    lua_pushboolean(L, 1);
    return 1;
}

void replace_file_register(lua_State *L) {
    lua_pushcfunction(L, replace_file);
    lua_setfield(L, -2, "replace_file");
    lua_pushcfunction(L, can_replace_file);
    lua_setfield(L, -2, "can_replace_file");
}
