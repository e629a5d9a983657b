#include "member.h"

#include "below.h"
#include "failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a member goes. */
struct place {
    int parent;
    const char *name;
    const char *path; /* clean, for messages */
};

static mode_t mode_of(struct archive_entry *entry) {
    /* No set-id bits, and nothing that everybody on this machine may write. */
    return archive_entry_perm(entry) & 0775;
}

static struct timespec time_of(struct archive_entry *entry) {
    struct timespec time = {.tv_nsec = UTIME_OMIT};
    if (archive_entry_mtime_is_set(entry)) {
        time.tv_sec = archive_entry_mtime(entry);
        time.tv_nsec = archive_entry_mtime_nsec(entry);
    }
    return time;
}

/* Takes away what has the name, so that nothing is written through a link of either kind. */
static int clear(const struct place *place, sb_error *err) {
    if (unlinkat(place->parent, place->name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    if ((errno == EISDIR || errno == EPERM) &&
        unlinkat(place->parent, place->name, AT_REMOVEDIR) == 0) {
        return 0;
    }
    return archive_fail_errno(err, errno, place->path);
}

static int write_all(int fd, const char *bytes, size_t length, int64_t offset) {
    while (length > 0) {
        ssize_t count = pwrite(fd, bytes, length, offset);
        if (count < 0 && errno != EINTR) {
            return -1;
        }
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
            offset += count;
        }
    }
    return 0;
}

/* Holes of sparse files stay holes. */
static int write_data(int fd, const struct place *place, struct archive *archive, int64_t size,
                      sb_error *err) {
    int64_t end = 0;
    for (;;) {
        const void *bytes;
        size_t length;
        la_int64_t offset;
        int result = archive_read_data_block(archive, &bytes, &length, &offset);
        if (result == ARCHIVE_EOF) {
            break;
        }
        if (result < ARCHIVE_WARN) {
            return archive_fail_format(err, archive);
        }
        if (write_all(fd, bytes, length, offset) != 0) {
            return archive_fail_errno(err, errno, place->path);
        }
        end = offset + (int64_t)length;
    }
    if (size > end && ftruncate(fd, size) != 0) {
        return archive_fail_errno(err, errno, place->path);
    }
    return 0;
}

static int make_file(const struct place *place, struct archive *archive,
                     struct archive_entry *entry, sb_error *err) {
    if (clear(place, err) != 0) {
        return -1;
    }
    int fd = openat(place->parent, place->name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return archive_fail_errno(err, errno, place->path);
    }
    int64_t size = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;
    int status = write_data(fd, place, archive, size, err);
    if (status == 0 && fchmod(fd, mode_of(entry)) != 0) {
        status = archive_fail_errno(err, errno, place->path);
    }
    struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, time_of(entry)};
    (void)futimens(fd, times);
    if (close(fd) != 0 && errno != EINTR && status == 0) {
        status = archive_fail_errno(err, errno, place->path);
    }
    if (status != 0) {
        unlinkat(place->parent, place->name, 0); /* half a file looks like a whole one */
    }
    return status;
}

static int make_symlink(const struct place *place, struct archive_entry *entry, sb_error *err) {
    const char *target = archive_entry_symlink(entry);
    if (target == NULL || target[0] == '\0') {
        return archive_fail(err, SB_PROTOCOL, "the archive has a link to nothing: %.200s",
                            place->path);
    }
    if (clear(place, err) != 0) {
        return -1;
    }
    if (symlinkat(target, place->parent, place->name) != 0) {
        return archive_fail_errno(err, errno, place->path);
    }
    struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, time_of(entry)};
    (void)utimensat(place->parent, place->name, times, AT_SYMLINK_NOFOLLOW);
    return 0;
}

/* A second name of a file below the directory. Its data, should some follow, are the first's. */
static int make_hard_link(int root, const struct place *place, const char *target, sb_error *err) {
    char *clean = below_clean(target, err);
    if (clean == NULL) {
        return -1;
    }
    const char *name;
    struct stat first, second;
    int parent = below_open_parent(root, clean, false, &name, err), status = -1;
    if (parent < 0) {
        free(clean);
        return -1;
    }
    if (fstatat(parent, name, &first, AT_SYMLINK_NOFOLLOW) != 0) {
        archive_fail_errno(err, errno, clean);
    } else if (!S_ISREG(first.st_mode)) {
        archive_fail(err, SB_BAD_PATH, "%.200s: a hard link to what is no file, %.200s",
                     place->path, clean);
    } else if (fstatat(place->parent, place->name, &second, AT_SYMLINK_NOFOLLOW) == 0 &&
               first.st_dev == second.st_dev && first.st_ino == second.st_ino) {
        status = 0; /* clearing its place would take away the file that it is */
    } else if (clear(place, err) == 0) {
        status = linkat(parent, name, place->parent, place->name, 0) == 0
                     ? 0
                     : archive_fail_errno(err, errno, place->path);
    }
    close(parent);
    free(clean);
    return status;
}

static int make_directory(const struct place *place, struct left_open *open,
                          struct archive_entry *entry, sb_error *err) {
    struct stat status;
    int made = mkdirat(place->parent, place->name, 0700);
    if (made != 0 && errno == EEXIST &&
        fstatat(place->parent, place->name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(status.st_mode)) {
            made = 0;
        } else if (clear(place, err) != 0) {
            return -1;
        } else {
            made = mkdirat(place->parent, place->name, 0700);
        }
    }
    if (made != 0) {
        return archive_fail_errno(err, errno, place->path);
    }
    return left_open_add(open, place->path, mode_of(entry), time_of(entry), err);
}

static int make_at(int root, const struct place *place, struct left_open *open,
                   struct archive *archive, struct archive_entry *entry, sb_error *err) {
    const char *hard_link = archive_entry_hardlink(entry);
    if (hard_link != NULL) {
        return make_hard_link(root, place, hard_link, err);
    }
    switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
        return make_file(place, archive, entry, err);
    case AE_IFDIR:
        return make_directory(place, open, entry, err);
    case AE_IFLNK:
        return make_symlink(place, entry, err);
    default:
        return 0; /* devices, pipes and sockets are left out */
    }
}

int member_make(int root, struct left_open *open, struct archive *archive,
                struct archive_entry *entry, sb_error *err) {
    char *clean = below_clean(archive_entry_pathname(entry), err);
    if (clean == NULL) {
        return -1;
    }
    int status = left_open_leave(open, root, clean, err);
    /* The directory itself is the host's: it stays as it is. */
    if (status == 0 && clean[0] != '\0') {
        struct place place = {.path = clean};
        place.parent = below_open_parent(root, clean, true, &place.name, err);
        if (place.parent < 0) {
            status = -1;
        } else {
            status = make_at(root, &place, open, archive, entry, err);
            close(place.parent);
        }
    }
    free(clean);
    return status;
}
