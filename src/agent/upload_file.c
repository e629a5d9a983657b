/* upload_file.c - see upload_file.h */
#include "upload_file.h"

#include "metadata.h"
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FLAGS (O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
#define OPEN_TRIES 8 /* others may make and remove the file meanwhile */

struct upload_file {
    int fd;
    bool created;
    const json_t *metadata;
    char path[];
};

/* Opens or makes the file; *created: it was made here. */
static int open_or_create(const char *path, bool *created) {
    int fd = -1;
    for (int i = 0; i < OPEN_TRIES; i++) {
        *created = false;
        fd = open(path, FLAGS);
        if (fd >= 0 || errno != ENOENT)
            return fd;
        *created = true;
        fd = open(path, FLAGS | O_CREAT | O_EXCL, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    /* A symbolic link that leads to nothing yet. */
    *created = false;
    return open(path, FLAGS | O_CREAT, 0666);
}

/* Whether the announced bytes fit, where that is known. */
static int check_space(int fd, const struct stat *info, const char *path, uint64_t expected,
                       files_fault *fault) {
    struct statvfs space;
    if (expected == 0 || fstatvfs(fd, &space) || space.f_blocks == 0)
        return 0;
    uint64_t room =
        (uint64_t)space.f_bavail * space.f_frsize + (uint64_t)info->st_blocks * 512 /* bytes */;
    if (expected <= room)
        return 0;
    return files_fault_set(fault, 507,
                           "writing '%s': not enough disk space available: %" PRIu64
                           " bytes are needed, %" PRIu64 " are free",
                           path, expected, room);
}

/* Everything that can be wrong is found before the old contents go. */
static int check(const upload_file *file, uint64_t expected, files_fault *fault) {
    struct stat info;
    if (fstat(file->fd, &info))
        return files_fault_errno(fault, errno, "writing", file->path);
    if (!S_ISREG(info.st_mode))
        return files_fault_set(fault, 400, "path '%s' is not a regular file", file->path);
    if (check_space(file->fd, &info, file->path, expected, fault))
        return -1;
    if (json_object_size(file->metadata) && !metadata_supported(file->fd))
        return files_fault_set(fault, 400, "%s", METADATA_UNSUPPORTED);
    if (ftruncate(file->fd, 0) && errno != EINVAL) /* /proc has files that cannot be cut */
        return files_fault_errno(fault, errno, "writing", file->path);
    return 0;
}

upload_file *upload_file_open(const char *path, uint64_t expected, const json_t *metadata,
                              files_fault *fault) {
    size_t length = strlen(path);
    upload_file *file = malloc(sizeof *file + length + 1);
    if (!file) {
        files_fault_set(fault, 500, "out of memory");
        return NULL;
    }
    memcpy(file->path, path, length + 1);
    file->metadata = metadata;
    file->fd = -1;
    if (path[length - 1] == '/')
        errno = EISDIR;
    else if (path_make_parents(path) == 0)
        file->fd = open_or_create(path, &file->created);
    if (file->fd >= 0 && check(file, expected, fault) == 0)
        return file;
    if (file->fd >= 0) {
        upload_file_abort(file);
        return NULL;
    }
    if (errno == EISDIR)
        files_fault_set(fault, 400, "path is a directory: %s", path);
    else if (errno == ENXIO)
        files_fault_set(fault, 400, "path '%s' is not a regular file", path);
    else
        files_fault_errno(fault, errno, "opening", path);
    free(file);
    return NULL;
}

const char *upload_file_path(const upload_file *file) {
    return file->path;
}

int upload_file_write(upload_file *file, const char *bytes, size_t length, files_fault *fault) {
    while (length) {
        ssize_t written = write(file->fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return files_fault_errno(fault, errno, "writing", file->path);
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

int upload_file_finish(upload_file *file, files_fault *fault) {
    if (metadata_write(file->fd, file->metadata)) {
        files_fault_errno(fault, errno, "writing the metadata of", file->path);
        upload_file_abort(file);
        return -1;
    }
    int failed = close(file->fd) && errno != EINTR ? errno : 0;
    if (failed)
        files_fault_errno(fault, failed, "writing", file->path);
    free(file);
    return failed ? -1 : 0;
}

void upload_file_abort(upload_file *file) {
    struct stat own, there;
    if (file->created && fstat(file->fd, &own) == 0 && lstat(file->path, &there) == 0 &&
        own.st_dev == there.st_dev && own.st_ino == there.st_ino)
        unlink(file->path);
    close(file->fd);
    free(file);
}
