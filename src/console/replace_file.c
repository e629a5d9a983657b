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

static int replace(const char *path, const char *bytes, size_t length) {
    char target[PATH_MAX], name[PATH_MAX];
    struct stat there;
    bool is_there = stat(path, &there) == 0;
    if (is_there && !S_ISREG(there.st_mode))
        return write_through(path, bytes, length);
    /* A link stays one: what it leads to is replaced. */
    if (!is_there || !realpath(path, target))
        snprintf(target, sizeof target, "%s", path);
    int fd = open_beside(target, name);
    if (fd < 0)
        return -1;
    int status = is_there ? fchmod(fd, there.st_mode & 0777) : 0;
    if (status == 0)
        status = write_all(fd, bytes, length);
    if (status == 0)
        status = fsync(fd);
    status = finish(fd, status);
    if (status == 0)
        status = rename(name, target);
    if (status != 0) {
        int error = errno;
        unlink(name);
        errno = error;
    }
    return status;
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
}
