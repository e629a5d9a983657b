#include "below.h"

#include "failure.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *below_clean(const char *path, sb_error *err) {
    size_t length = path != NULL ? strlen(path) : 0;
    const char *why = length == 0               ? "a name that is empty"
                      : path[0] == '/'          ? "a name that is absolute"
                      : length > BELOW_MAX_PATH ? "a name that is too long"
                                                : NULL;
    char *clean = why == NULL ? malloc(length + 1) : NULL;
    size_t used = 0;
    for (const char *at = path; clean != NULL && why == NULL && *at != '\0';) {
        size_t part = strcspn(at, "/");
        if (part == 2 && memcmp(at, "..", 2) == 0) {
            why = "a name that leads out of the directory";
        } else if (part > 0 && !(part == 1 && at[0] == '.')) {
            if (used > 0) {
                clean[used++] = '/';
            }
            memcpy(clean + used, at, part);
            used += part;
        }
        at += part + (at[part] == '/');
    }
    if (why != NULL) {
        free(clean);
        archive_fail(err, SB_BAD_PATH, "the archive has %s: %.200s", why, length > 0 ? path : "");
        return NULL;
    }
    if (clean == NULL) {
        archive_fail(err, SB_SYSTEM, "out of memory");
        return NULL;
    }
    clean[used] = '\0';
    return clean;
}

/* Says what stands where a directory was wanted. */
static int explain(int parent, const char *name, int number, const char *clean, sb_error *err) {
    struct stat status;
    if ((number == ENOTDIR || number == ELOOP) &&
        fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode)) {
        return archive_fail(err, SB_BAD_PATH, "%.200s: a symbolic link is on the way, at %.200s",
                            clean, name);
    }
    return archive_fail_errno(err, number, clean);
}

static int open_component(int parent, const char *name, bool make) {
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    if (fd < 0 && errno == ENOENT && make) {
        if (mkdirat(parent, name, 0777) != 0 && errno != EEXIST) {
            return -1;
        }
        fd = openat(parent, name, flags);
    }
    return fd;
}

int below_open(int root, const char *clean, size_t length, bool make, sb_error *err) {
    int fd = fcntl(root, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) {
        return archive_fail_errno(err, errno, clean);
    }
    for (size_t at = 0; at < length;) {
        size_t part = strcspn(clean + at, "/");
        char name[NAME_MAX + 1];
        if (part > NAME_MAX) {
            close(fd);
            return archive_fail_errno(err, ENAMETOOLONG, clean);
        }
        memcpy(name, clean + at, part);
        name[part] = '\0';
        int next = open_component(fd, name, make);
        if (next < 0) {
            explain(fd, name, errno, clean, err);
        }
        close(fd);
        if (next < 0) {
            return -1;
        }
        fd = next;
        at += part + 1;
    }
    return fd;
}

int below_open_parent(int root, const char *clean, bool make, const char **name, sb_error *err) {
    const char *slash = strrchr(clean, '/');
    *name = slash != NULL ? slash + 1 : clean;
    return below_open(root, clean, slash != NULL ? (size_t)(slash - clean) : 0, make, err);
}

bool below_is_above(const char *outer, size_t outer_length, const char *inner) {
    return outer_length == 0 ||
           (strncmp(outer, inner, outer_length) == 0 && inner[outer_length] == '/');
}
