#include "file_body.h"

#include "error.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int copy_memory(struct sbi_file_body *body, const sb_write_options *options, sb_error *err) {
    body->kind = SBI_BODY_MEMORY;
    body->left = (int64_t)options->length;
    body->bytes = options->bytes;
    if (options->bytes == NULL && options->length > 0) {
        return sbi_fail(err, SB_INVALID, "bytes: is NULL");
    }
    if (options->borrow || options->length == 0) {
        return 0;
    }
    body->bytes = body->owned = malloc(options->length);
    if (body->owned == NULL) {
        return sbi_no_memory(err);
    }
    memcpy(body->owned, options->bytes, options->length);
    return 0;
}

static int use_descriptor(struct sbi_file_body *body, int fd, sb_error *err) {
    struct stat status;
    body->kind = SBI_BODY_FD;
    body->fd = fd;
    body->left = -1;
    if (fstat(fd, &status) != 0) {
        return sbi_fail(err, SB_INVALID, "fd: %s", strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return sbi_fail(err, SB_INVALID, "fd: is a directory");
    }
    /* Files that the system makes up as they are read say that they are empty. */
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
        off_t at = lseek(fd, 0, SEEK_CUR);
        body->left = at >= 0 && at < status.st_size ? status.st_size - at : 0;
    }
    return 0;
}

int sbi_file_body_init(struct sbi_file_body *body, const sb_write_options *options, sb_error *err) {
    *body = (struct sbi_file_body){.fd = -1, .left = -1};
    if (options->from_fd + options->feed + (options->bytes != NULL) > 1) {
        return sbi_fail(err, SB_INVALID, "bytes, fd, feed: only one of them can be written");
    }
    if (options->from_fd) {
        return use_descriptor(body, options->fd, err);
    }
    if (options->feed) {
        body->kind = SBI_BODY_FEED;
        return 0;
    }
    return copy_memory(body, options, err);
}

void sbi_file_body_free(struct sbi_file_body *body) {
    sbi_feed_free(&body->feed);
    free(body->owned);
}

int sbi_file_body_make_form(struct sbi_file_body *body, sb_error *err) {
    /* The boundary must not be in the content: nobody can guess it. */
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return sbi_fail(err, SB_SYSTEM, "getrandom: %s", strerror(errno));
    }
    body->tail_length =
        (size_t)snprintf(body->tail, sizeof body->tail,
                         "\r\n--stepbox-%016" PRIx64 "%016" PRIx64 "--\r\n", random[0], random[1]);
    body->head_length =
        (size_t)snprintf(body->head, sizeof body->head,
                         "--stepbox-%016" PRIx64 "%016" PRIx64 "\r\n"
                         "Content-Disposition: form-data; name=\"file\"; filename=\"file\"\r\n"
                         "Content-Type: application/octet-stream\r\n\r\n",
                         random[0], random[1]);
    return 0;
}

int64_t sbi_file_body_length(const struct sbi_file_body *body) {
    return body->left < 0 ? -1 : body->left + (int64_t)(body->head_length + body->tail_length);
}

void sbi_file_body_type(const struct sbi_file_body *body, char *type, size_t size) {
    if (body->head_length == 0) {
        snprintf(type, size, "application/octet-stream");
    } else {
        int boundary = (int)strcspn(body->head + 2, "\r");
        snprintf(type, size, "multipart/form-data; boundary=%.*s", boundary, body->head + 2);
    }
}

static size_t copy(const char *text, size_t length, size_t *at, char *bytes, size_t size) {
    size_t count = length - *at < size ? length - *at : size;
    memcpy(bytes, text + *at, count);
    *at += count;
    return count;
}

static ssize_t read_memory(struct sbi_file_body *body, char *bytes, size_t size) {
    size_t count = body->left < (int64_t)size ? (size_t)body->left : size;
    if (count > 0) {
        memcpy(bytes, body->bytes, count);
        body->bytes += count;
        body->left -= (int64_t)count;
    }
    return (ssize_t)count;
}

static ssize_t read_descriptor(struct sbi_file_body *body, char *bytes, size_t size,
                               sb_error *err) {
    size_t wanted = body->left >= 0 && body->left < (int64_t)size ? (size_t)body->left : size;
    if (wanted == 0) {
        return 0;
    }
    ssize_t count;
    while ((count = read(body->fd, bytes, wanted)) < 0) {
        if (errno == EAGAIN) {
            struct pollfd wait = {body->fd, POLLIN, 0};
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return sbi_fail(err, SB_SYSTEM, "reading what is to be written: %s", strerror(errno));
        }
    }
    if (body->left > 0) {
        if (count == 0) {
            return sbi_fail(err, SB_SYSTEM, "the file became shorter while it was read");
        }
        body->left -= count;
    }
    return count;
}

static ssize_t read_feed(struct sbi_file_body *body, char *bytes, size_t size) {
    bool has_room;
    size_t count = sbi_feed_take(&body->feed, bytes, size, &has_room);
    body->feed_has_room |= has_room;
    return count > 0 || body->feed.has_ended ? (ssize_t)count : SBI_SOURCE_WAIT;
}

ssize_t sbi_file_body_read(struct sbi_file_body *body, char *bytes, size_t size, sb_error *err) {
    if (body->head_at < body->head_length) {
        return (ssize_t)copy(body->head, body->head_length, &body->head_at, bytes, size);
    }
    ssize_t count = body->kind == SBI_BODY_MEMORY ? read_memory(body, bytes, size)
                    : body->kind == SBI_BODY_FD   ? read_descriptor(body, bytes, size, err)
                                                  : read_feed(body, bytes, size);
    return count != 0 ? count
                      : (ssize_t)copy(body->tail, body->tail_length, &body->tail_at, bytes, size);
}
