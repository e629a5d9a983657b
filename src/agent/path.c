/* path.c - see path.h */
#include "path.h"

#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Takes ".", ".." and double slashes out of an absolute path, in its place. */
static void clean(char *path) {
    char *to = path;
    for (const char *from = path; *from;) {
        from += strspn(from, "/");
        size_t length = strcspn(from, "/");
        if (length == 2 && from[0] == '.' && from[1] == '.') {
            while (to > path && *--to != '/')
                ;
        } else if (length > 0 && !(length == 1 && *from == '.')) {
            *to++ = '/';
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    if (to == path)
        *to++ = '/';
    *to = '\0';
}

char *path_resolve(const struct agent *agent, const char *path, size_t length, const char **fault) {
    const char *base = user_home(agent);
    *fault = NULL;
    if (memchr(path, '\0', length))
        *fault = "the path contains NUL";
    else if (length >= PATH_MAX)
        *fault = "the path is too long";
    if (*fault)
        return NULL;
    if (length == 0 && agent->workdir) {
        path = agent->workdir;
        length = strlen(path);
    }
    if (length > 0 && *path == '/') {
        char *copy = strndup(path, length);
        if (!copy)
            *fault = "out of memory";
        return copy;
    }
    if (length > 0 && *path == '~') {
        if (length > 1 && path[1] != '/') {
            *fault = "the home directories of other users are not known: use ~ or ~/";
            return NULL;
        }
        path++;
        length--;
    }
    size_t base_length = strlen(base);
    char *all = malloc(base_length + 1 + length + 1);
    if (!all) {
        *fault = "out of memory";
        return NULL;
    }
    memcpy(all, base, base_length);
    all[base_length] = '/';
    memcpy(all + base_length + 1, path, length);
    all[base_length + 1 + length] = '\0';
    clean(all);
    if (strlen(all) >= PATH_MAX) {
        free(all);
        *fault = "the path is too long";
        return NULL;
    }
    return all;
}

const char *path_name(const char *path, size_t *length) {
    const char *end = path + strlen(path);
    while (end > path + 1 && end[-1] == '/')
        end--;
    const char *name = end;
    while (name > path && name[-1] != '/')
        name--;
    if (name == end && end > path)
        name--; /* the root */
    *length = (size_t)(end - name);
    return name;
}

/* Opens the directory of that name in `at`, and makes it when it is missing. */
static int enter(int at, const char *name) {
    static const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    int fd = openat(at, name, flags);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    bool was_there = mkdirat(at, name, 0755) != 0;
    if (was_there && errno != EEXIST)
        return -1;
    fd = openat(at, name, flags);
    if (fd < 0 && errno == ENOENT && was_there)
        errno = ENOTDIR; /* a link that leads nowhere */
    return fd;
}

/* Makes the directories of the first `length` bytes of a path. */
static int make(const char *path, size_t length) {
    char text[PATH_MAX], *next;
    if (length >= sizeof text) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(text, path, length);
    text[length] = '\0';
    int at = open(length ? text : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0 && errno == ENOENT) {
        at = open(*text == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        for (char *name = text + strspn(text, "/"); at >= 0 && *name; name = next) {
            size_t size = strcspn(name, "/");
            next = name + size + strspn(name + size, "/");
            name[size] = '\0';
            int below = enter(at, name), saved = errno;
            close(at);
            errno = saved;
            at = below;
        }
    }
    if (at < 0)
        return -1;
    close(at);
    return 0;
}

int path_make_directories(const char *path) {
    return make(path, strlen(path));
}

int path_make_parents(const char *path) {
    size_t length;
    return make(path, (size_t)(path_name(path, &length) - path));
}
