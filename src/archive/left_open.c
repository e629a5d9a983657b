#include "left_open.h"

#include "below.h"
#include "failure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int left_open_add(struct left_open *open, const char *clean, mode_t mode, struct timespec time,
                  sb_error *err) {
    if (open->count == open->room) {
        size_t room = open->room == 0 ? 16 : open->room * 2;
        struct left_open_directory *more = realloc(open->directories, room * sizeof *more);
        if (more == NULL) {
            return archive_fail(err, SB_SYSTEM, "out of memory");
        }
        open->directories = more;
        open->room = room;
    }
    char *path = strdup(clean);
    if (path == NULL) {
        return archive_fail(err, SB_SYSTEM, "out of memory");
    }
    free(open->path);
    open->path = path;
    open->directories[open->count++] =
        (struct left_open_directory){.length = strlen(clean), .mode = mode, .time = time};
    return 0;
}

static int settle(const struct left_open *open, int root,
                  const struct left_open_directory *directory, sb_error *err) {
    sb_error why;
    int fd = below_open(root, open->path, directory->length, false, &why);
    if (fd < 0) {
        /* Something else of the archive has taken its place. */
        if (why.code == SB_NOT_FOUND || why.code == SB_NOT_DIRECTORY || why.code == SB_BAD_PATH) {
            return 0;
        }
        if (err != NULL) {
            *err = why;
        }
        return -1;
    }
    struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, directory->time};
    /* A time that the file system does not know is no reason to fail. */
    (void)futimens(fd, times);
    int status = fchmod(fd, directory->mode) == 0 ? 0 : archive_fail_errno(err, errno, open->path);
    close(fd);
    return status;
}

int left_open_leave(struct left_open *open, int root, const char *clean, sb_error *err) {
    while (open->count > 0) {
        const struct left_open_directory *last = &open->directories[open->count - 1];
        if (clean != NULL && below_is_above(open->path, last->length, clean)) {
            return 0;
        }
        open->count--;
        if (settle(open, root, last, err) != 0) {
            return -1;
        }
    }
    return 0;
}

void left_open_free(struct left_open *open) {
    free(open->path);
    free(open->directories);
    *open = (struct left_open){0};
}
