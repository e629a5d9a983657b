/* pack.c - a directory as a tar stream, in the pax format: names of any bytes and length, files of
 * any size, times in nanoseconds. */
#include "stepbox_archive.h"

#include "failure.h"
#include "walk.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a file that are read at once. */
#define PIECE (128 * 1024)

struct sb_pack {
    struct walk *walk;
    struct archive *archive;
    struct archive_entry *entry;
    locale_t utf8;
    /* The file that is being packed: */
    int file; /* -1: none */
    int64_t left;
    char *path; /* for messages */
    /* What libarchive has written and nobody has read yet: */
    char *out;
    size_t out_begin, out_end, out_room;
    bool is_closed;    /* the archive is whole */
    bool is_abandoned; /* nothing is to be written any more */
    sb_error failure;
    char piece[PIECE];
};

static la_ssize_t on_write(struct archive *archive, void *user, const void *bytes, size_t length) {
    sb_pack *pack = user;
    if (pack->is_abandoned) {
        archive_set_error(archive, ECANCELED, "abandoned");
        return -1;
    }
    if (pack->out_end + length > pack->out_room) {
        size_t room = (pack->out_end + length) * 2;
        char *out = realloc(pack->out, room);
        if (out == NULL) {
            archive_set_error(archive, ENOMEM, "out of memory");
            return -1;
        }
        pack->out = out;
        pack->out_room = room;
    }
    memcpy(pack->out + pack->out_end, bytes, length);
    pack->out_end += length;
    return (la_ssize_t)length;
}

static int open_archive(sb_pack *pack, sb_error *err) {
    pack->archive = archive_write_new();
    pack->entry = archive_entry_new();
    /* The format has names in UTF-8. libarchive writes those that are in the locale's characters as
     * they are, and marks others as bytes, of which some programs complain: so the locale is one of
     * UTF-8, whatever the host's is. */
    pack->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (pack->utf8 == (locale_t)0) {
        pack->utf8 = newlocale(LC_CTYPE_MASK, "C", (locale_t)0);
    }
    if (pack->archive == NULL || pack->entry == NULL || pack->utf8 == (locale_t)0) {
        return archive_fail(err, SB_SYSTEM, "out of memory");
    }
    if (archive_write_set_format_pax(pack->archive) != ARCHIVE_OK ||
        archive_write_add_filter_none(pack->archive) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(pack->archive, 0) != ARCHIVE_OK ||
        archive_write_open2(pack->archive, pack, NULL, on_write, NULL, NULL) != ARCHIVE_OK) {
        return archive_fail_format(err, pack->archive);
    }
    return 0;
}

sb_pack *sb_pack_new(const char *directory, sb_error *err) {
    if (directory == NULL || directory[0] == '\0') {
        archive_fail(err, SB_BAD_PATH, "directory: no path");
        return NULL;
    }
    sb_pack *pack = calloc(1, sizeof *pack);
    if (pack == NULL) {
        archive_fail(err, SB_SYSTEM, "out of memory");
        return NULL;
    }
    pack->file = -1;
    pack->walk = walk_new(directory, err);
    if (pack->walk == NULL || open_archive(pack, err) != 0) {
        sb_pack_free(pack);
        return NULL;
    }
    return pack;
}

static int write_header(sb_pack *pack, const struct stat *status, const char *path,
                        const char *target, sb_error *err) {
    struct archive_entry *entry = archive_entry_clear(pack->entry);
    archive_entry_copy_pathname(entry, path);
    archive_entry_set_mode(entry, status->st_mode);
    archive_entry_set_mtime(entry, status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
    archive_entry_set_size(entry, S_ISREG(status->st_mode) ? status->st_size : 0);
    if (target != NULL) {
        archive_entry_copy_symlink(entry, target);
    }
    /* A warning is about names that are no UTF-8: they are written as they are. */
    return archive_write_header(pack->archive, entry) >= ARCHIVE_WARN
               ? 0
               : archive_fail_format(err, pack->archive);
}

/* A name that went away, or became something else, between two calls is left out. */
static bool has_gone(int number) {
    return number == ENOENT || number == ENOTDIR || number == ELOOP || number == ESTALE;
}

static int add_link(sb_pack *pack, const struct walk_step *step, const struct stat *status,
                    sb_error *err) {
    char *target = pack->piece;
    ssize_t length = readlinkat(step->parent, step->name, target, PIECE - 1);
    if (length < 0) {
        return has_gone(errno) || errno == EINVAL ? 0 : archive_fail_errno(err, errno, step->path);
    }
    target[length] = '\0';
    return write_header(pack, status, step->path, target, err);
}

static int add_directory(sb_pack *pack, const struct walk_step *step, int fd,
                         const struct stat *status, sb_error *err) {
    /* Behind a directory's name tar has a slash. */
    size_t length = strlen(step->path);
    char *path = malloc(length + 2);
    if (path == NULL) {
        close(fd);
        return archive_fail(err, SB_SYSTEM, "out of memory");
    }
    memcpy(path, step->path, length);
    memcpy(path + length, "/", 2);
    int written = write_header(pack, status, path, NULL, err);
    free(path);
    if (written != 0) {
        close(fd);
        return -1;
    }
    return walk_enter(pack->walk, fd, err);
}

static int begin_file(sb_pack *pack, const struct walk_step *step, int fd,
                      const struct stat *status, sb_error *err) {
    free(pack->path);
    pack->path = strdup(step->path);
    pack->file = fd;
    pack->left = status->st_size;
    if (pack->path == NULL) {
        return archive_fail(err, SB_SYSTEM, "out of memory");
    }
    return write_header(pack, status, step->path, NULL, err);
}

static int add_opened(sb_pack *pack, const struct walk_step *step, sb_error *err) {
    int fd =
        openat(step->parent, step->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return has_gone(errno) || errno == ENXIO ? 0 : archive_fail_errno(err, errno, step->path);
    }
    struct stat status;
    if (fstat(fd, &status) != 0) {
        int number = errno;
        close(fd);
        return archive_fail_errno(err, number, step->path);
    }
    if (S_ISDIR(status.st_mode)) {
        return add_directory(pack, step, fd, &status, err);
    }
    if (S_ISREG(status.st_mode)) {
        return begin_file(pack, step, fd, &status, err);
    }
    close(fd);
    return 0;
}

static int add_next(sb_pack *pack, sb_error *err) {
    struct walk_step step;
    int found = walk_next(pack->walk, &step, err);
    if (found < 0) {
        return -1;
    }
    if (found == 0) {
        pack->is_closed = true;
        return archive_write_close(pack->archive) == ARCHIVE_OK
                   ? 0
                   : archive_fail_format(err, pack->archive);
    }
    struct stat status;
    if (fstatat(step.parent, step.name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return has_gone(errno) ? 0 : archive_fail_errno(err, errno, step.path);
    }
    if (S_ISLNK(status.st_mode)) {
        return add_link(pack, &step, &status, err);
    }
    return S_ISDIR(status.st_mode) || S_ISREG(status.st_mode) ? add_opened(pack, &step, err) : 0;
}

static int end_file(sb_pack *pack, sb_error *err) {
    close(pack->file);
    pack->file = -1;
    return archive_write_finish_entry(pack->archive) == ARCHIVE_OK
               ? 0
               : archive_fail_format(err, pack->archive);
}

/* The size was announced: a file that grew meanwhile is cut there, one that shrank is filled up
 * with zeros, piece by piece. */
static int add_piece(sb_pack *pack, sb_error *err) {
    size_t wanted = pack->left < PIECE ? (size_t)pack->left : PIECE;
    if (wanted == 0) {
        return end_file(pack, err);
    }
    ssize_t count;
    do {
        count = read(pack->file, pack->piece, wanted);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return archive_fail_errno(err, errno, pack->path);
    }
    if (count == 0) {
        memset(pack->piece, 0, wanted);
        count = (ssize_t)wanted;
    }
    if (archive_write_data(pack->archive, pack->piece, (size_t)count) != count) {
        return archive_fail_format(err, pack->archive);
    }
    pack->left -= count;
    return 0;
}

/* Packs the next thing, or the next piece of a file. */
static int go_on(sb_pack *pack, sb_error *err) {
    locale_t hosts = uselocale(pack->utf8);
    int status = pack->file >= 0 ? add_piece(pack, err) : add_next(pack, err);
    uselocale(hosts);
    return status;
}

int64_t sb_pack_read(sb_pack *pack, char *bytes, size_t size, sb_error *err) {
    size_t done = 0;
    while (done < size) {
        size_t ready = pack->out_end - pack->out_begin;
        if (ready == 0) {
            pack->out_begin = pack->out_end = 0;
            if (pack->is_closed || pack->failure.code != SB_OK) {
                break;
            }
            if (go_on(pack, &pack->failure) != 0) {
                break;
            }
            continue;
        }
        size_t count = ready < size - done ? ready : size - done;
        memcpy(bytes + done, pack->out + pack->out_begin, count);
        pack->out_begin += count;
        done += count;
    }
    if (done == 0 && pack->failure.code != SB_OK) {
        if (err != NULL) {
            *err = pack->failure;
        }
        return -1;
    }
    return (int64_t)done;
}

void sb_pack_free(sb_pack *pack) {
    if (pack == NULL) {
        return;
    }
    if (pack->archive != NULL) {
        /* This closes the archive, and would fill up what is left of a file. */
        pack->is_abandoned = true;
        archive_write_free(pack->archive);
    }
    archive_entry_free(pack->entry);
    if (pack->utf8 != (locale_t)0) {
        freelocale(pack->utf8);
    }
    walk_free(pack->walk);
    if (pack->file >= 0) {
        close(pack->file);
    }
    free(pack->path);
    free(pack->out);
    free(pack);
}
