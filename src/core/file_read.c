/* Reading a file: GET /files, to memory, to a descriptor or to events. */
#include "error.h"
#include "events.h"
#include "file_error.h"
#include "file_transfer.h"
#include "sigpipe.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_MAX_BYTES (1024u * 1024 * 1024)

/* What libcurl reads at once; it takes no more. */
#define MAX_PIECE (512 * 1024)
#define MIN_PIECE (16 * 1024)

struct file_read {
    sb_box *box;
    int fd; /* -1: not to one */
    int64_t offset, length;
    struct sbi_buffer bytes; /* of a read into memory */
    struct sbi_events events;
    bool has_range; /* was asked for */
    bool has_begun;
    int64_t skip;     /* bytes of the answer before what was asked for */
    int64_t promised; /* bytes of a partial answer, as it says itself */
    int64_t left;     /* bytes to pass on */
    int64_t passed;   /* bytes passed on */
    bool is_complete; /* what follows in the answer was not asked for */
};

static bool is_to_memory(const sb_op *op) {
    const struct file_read *read = op->data;
    return read->fd < 0 && op->events == NULL;
}

/* Whether a partial answer has what was asked for: from the offset on, as much as there is of it.
 * Less would pass for all that the file has. */
static bool has_right_range(struct file_read *read, const char *range) {
    int64_t first, last, total = INT64_MAX;
    int fields = sscanf(range, "bytes %" SCNd64 "-%" SCNd64 "/%" SCNd64, &first, &last, &total);
    if (fields < 2 || first != read->offset || last < first || last >= total) {
        return false;
    }
    read->promised = last - first + 1;
    int64_t wanted = read->length > 0 ? read->offset + read->length - 1 : INT64_MAX;
    /* Without the total ("*") it cannot be known whether the file has more. */
    return fields < 3 || last == (wanted < total - 1 ? wanted : total - 1);
}

/* Room for all of it at once, when the answer says how much that is. */
static int reserve(struct file_read *read, const struct sbi_exchange *exchange, sb_error *err) {
    curl_off_t length = -1;
    curl_easy_getinfo(exchange->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    int64_t wanted = length - read->skip < read->left ? length - read->skip : read->left;
    if (length < 0 || wanted <= 0) {
        return 0;
    }
    if ((uint64_t)wanted > read->bytes.max) {
        return sbi_fail(err, SB_TOO_LARGE, "%" PRId64 " bytes, more than the bound of %zu", wanted,
                        read->bytes.max);
    }
    return sbi_buffer_reserve(&read->bytes, (size_t)wanted) == SB_OK ? 0 : sbi_no_memory(err);
}

static int begin(sb_op *op, sb_error *err) {
    struct file_read *read = op->data;
    read->has_begun = true;
    if (op->exchange->status == 206) {
        if (!read->has_range || !has_right_range(read, op->exchange->content_range)) {
            return sbi_fail(err, SB_PROTOCOL, "the answer has a range that was not asked for");
        }
    } else {
        read->skip = read->offset; /* a server without ranges sends everything */
    }
    return is_to_memory(op) ? reserve(read, op->exchange, err) : 0;
}

static ssize_t write_some(int fd, const char *bytes, size_t length) {
    struct sbi_sigpipe held;
    sbi_sigpipe_hold(&held, true); /* it may be a pipe that nobody reads any more */
    ssize_t count = write(fd, bytes, length);
    sbi_sigpipe_release(&held);
    return count;
}

static int write_all(int fd, const char *bytes, size_t length, sb_error *err) {
    while (length > 0) {
        ssize_t count = write_some(fd, bytes, length);
        if (count < 0 && errno == EAGAIN) {
            struct pollfd wait = {fd, POLLOUT, 0};
            poll(&wait, 1, -1);
        } else if (count < 0 && errno != EINTR) {
            return sbi_fail(err, SB_SYSTEM, "writing what was read: %s", strerror(errno));
        }
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        }
    }
    return 0;
}

static int keep(struct file_read *read, const char *bytes, size_t length, sb_error *err) {
    sb_code code = sbi_buffer_append(&read->bytes, bytes, length);
    if (code == SB_TOO_LARGE) {
        return sbi_fail(err, code, "more bytes than the bound of %zu", read->bytes.max);
    }
    return code == SB_OK ? 0 : sbi_no_memory(err);
}

static int pass(sb_op *op, const char *bytes, size_t length, sb_error *err) {
    struct file_read *read = op->data;
    int status;
    if (read->fd >= 0) {
        status = write_all(read->fd, bytes, length, err);
    } else if (op->events != NULL) {
        status = sbi_events_add_data(&read->events, bytes, length);
        sbi_op_mark_ready(op);
        if (status != 0) {
            sbi_no_memory(err);
        }
    } else {
        status = keep(read, bytes, length, err);
    }
    if (status == 0) {
        read->left -= (int64_t)length;
        read->passed += (int64_t)length;
    }
    return status;
}

static int on_data(void *user, const char *bytes, size_t length, sb_error *err) {
    sb_op *op = user;
    struct file_read *read = op->data;
    if (!read->has_begun && begin(op, err) != 0) {
        return -1;
    }
    if (read->skip >= (int64_t)length) {
        read->skip -= (int64_t)length;
        return 0;
    }
    bytes += read->skip;
    length -= (size_t)read->skip;
    read->skip = 0;
    size_t wanted = read->left < (int64_t)length ? (size_t)read->left : length;
    if (wanted > 0 && pass(op, bytes, wanted, err) != 0) {
        return -1;
    }
    if (wanted < length) {
        read->is_complete = true;
        return sbi_fail(err, SB_CANCELLED, "no more is wanted");
    }
    return 0;
}

static bool is_full(void *user) {
    const sb_op *op = user;
    return op->events != NULL && sbi_events_are_full(op->events);
}

static const struct sbi_stream read_stream = {on_data, is_full};

static int explain(const struct file_read *read, const struct sbi_exchange *exchange,
                   sb_error *err) {
    if (read->is_complete) {
        return 0;
    }
    if (exchange->error.code == SB_OK && exchange->status == 416 && read->has_range) {
        return 0; /* nothing is there so far behind the begin */
    }
    if (sbi_file_check(exchange, err) != 0) {
        return -1;
    }
    if (exchange->status != 200 && exchange->status != 206) {
        return sbi_fail_status(err, SB_PROTOCOL, exchange->status,
                               "HTTP %d where a file was expected", exchange->status);
    }
    if (exchange->status == 206 && (!read->has_begun || read->passed != read->promised)) {
        return sbi_fail_status(err, SB_PROTOCOL, exchange->status,
                               "the answer has not the bytes that it says");
    }
    return 0;
}

static void on_done(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct file_read *read = op->data;
    sb_error error = {0};
    explain(read, exchange, &error);
    sbi_box_explain_closed(read->box, &error);
    sbi_op_finish(op, &error);
}

static void release(sb_op *op) {
    struct file_read *read = op->data;
    sbi_buffer_free(&read->bytes);
    sbi_events_free(&read->events);
    sbi_box_release(read->box);
    free(read);
}

static const struct sbi_op_kind read_kind = {.name = "read", .release = release};

static int check(const char *path, const sb_read_options *options, sb_error *err) {
    if (sbi_transfer_check(path, options->idle_timeout, err) != 0) {
        return -1;
    }
    if (options->offset < 0 || options->length < 0 ||
        options->offset > INT64_MAX - options->length) {
        return sbi_fail(err, SB_INVALID, "offset, length: must not be negative or too large");
    }
    if (options->to_fd && (options->fd < 0 || options->events)) {
        return sbi_fail(err, SB_INVALID, "fd: must be one, and then no events are had");
    }
    return 0;
}

static sb_op *new_read(sb_box *box, const sb_read_options *options, sb_error *err) {
    sb_op *op = sbi_op_new_sized(box->loop, &read_kind, sizeof(struct file_read), err);
    if (op == NULL) {
        return NULL;
    }
    struct file_read *read = op->data;
    uint64_t max = options->max_bytes > 0 ? options->max_bytes : DEFAULT_MAX_BYTES;
    read->box = sbi_box_keep(box);
    read->fd = options->to_fd ? options->fd : -1;
    read->offset = options->offset;
    read->length = options->length;
    read->left = options->length > 0 ? options->length : INT64_MAX;
    read->has_range = options->offset > 0 || options->length > 0;
    op->events = options->events ? &read->events : NULL;
    sbi_buffer_init(&read->bytes, max < SIZE_MAX / 4 ? (size_t)max : SIZE_MAX / 4);
    return op;
}

static int describe(struct file_read *read, struct sbi_exchange *exchange, sb_error *err) {
    char range[64];
    long piece = read->length > 0 && read->length < MAX_PIECE ? (long)read->length : MAX_PIECE;
    curl_easy_setopt(exchange->easy, CURLOPT_BUFFERSIZE, piece < MIN_PIECE ? MIN_PIECE : piece);
    exchange->stream = &read_stream;
    if (!read->has_range) {
        return 0;
    }
    int used = snprintf(range, sizeof range, "Range: bytes=%" PRId64 "-", read->offset);
    if (read->length > 0) {
        snprintf(range + used, sizeof range - (size_t)used, "%" PRId64,
                 read->offset + read->length - 1);
    }
    return sbi_exchange_add_header(exchange, range, err);
}

sb_op *sb_file_read(sb_box *box, const char *path, const sb_read_options *options, sb_error *err) {
    static const sb_read_options defaults;
    options = options != NULL ? options : &defaults;
    sb_op *op = check(path, options, err) == 0 ? new_read(box, options, err) : NULL;
    if (op == NULL) {
        return NULL;
    }
    if (sbi_box_refuses(box, op)) {
        return op;
    }
    struct sbi_exchange *exchange = sbi_transfer_exchange(op, box, "GET", path, options->user,
                                                          options->idle_timeout, on_done, err);
    if (exchange == NULL || describe(op->data, exchange, err) != 0) {
        sb_op_free(op);
        return NULL;
    }
    sbi_op_send(op, SBI_OP_STREAM);
    return op;
}

const char *sb_op_bytes(const sb_op *op, size_t *length) {
    const struct file_read *read = op->kind == &read_kind ? op->data : NULL;
    if (length != NULL) {
        *length = read != NULL ? (size_t)read->passed : 0;
    }
    return read != NULL ? sbi_buffer_string(&read->bytes) : "";
}
