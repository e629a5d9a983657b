/* Writing a file: POST /files. */
#include "error.h"
#include "file_body.h"
#include "file_entry.h"
#include "file_error.h"
#include "file_transfer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A body up to here goes out with the request's head, at once. */
#define SMALL_BODY (60 * 1024)

/* What remains of an attribute's name in Linux behind "user.e2b.". */
#define MAX_KEY 246

struct file_write {
    sb_box *box;
    struct sbi_file_body body;
};

static ssize_t on_read(void *user, char *bytes, size_t size, sb_error *err) {
    sb_op *op = user;
    struct file_write *write = op->data;
    ssize_t count = sbi_file_body_read(&write->body, bytes, size, err);
    if (write->body.feed_has_room) {
        write->body.feed_has_room = false;
        sbi_op_mark_ready(op);
    }
    return count;
}

static const struct sbi_source write_source = {on_read};

static void on_done(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct file_write *write = op->data;
    sb_error error = {0};
    json_t *answer = sbi_file_answer(exchange, &error);
    if (answer != NULL) {
        op->entries = sbi_entries_new(answer, &error);
        if (op->entries != NULL && op->entries->count == 0) {
            sbi_fail_status(&error, SB_PROTOCOL, exchange->status,
                            "the server does not say what it wrote");
        }
    }
    sbi_box_explain_closed(write->box, &error);
    sbi_op_finish(op, &error);
}

static void release(sb_op *op) {
    struct file_write *write = op->data;
    sbi_file_body_free(&write->body);
    sbi_box_release(write->box);
    free(write);
}

static const struct sbi_op_kind write_kind = {.name = "write", .release = release};

/* --- metadata, in headers */

static bool is_key(const char *key) {
    static const char marks[] = "!#$%&'*+-.^_`|~";
    size_t length = strlen(key);
    for (const char *at = key; *at != '\0'; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        if (!is_letter && !(*at >= '0' && *at <= '9') && strchr(marks, *at) == NULL) {
            return false;
        }
    }
    return length > 0 && length <= MAX_KEY;
}

/* Headers' names differ by more than case. */
static bool comes_again(const sb_write_options *options, size_t index) {
    for (size_t i = 0; i < index; i++) {
        if (strcasecmp(options->metadata[i].name, options->metadata[index].name) == 0) {
            return true;
        }
    }
    return false;
}

/* Printable ASCII; at its ends a header's value loses its spaces. */
static bool is_value(const char *value) {
    size_t length = strlen(value);
    for (const char *at = value; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            return false;
        }
    }
    return length == 0 || (value[0] != ' ' && value[length - 1] != ' ');
}

static int check_metadata(const sb_box *box, const sb_write_options *options, sb_error *err) {
    for (size_t i = 0; i < options->metadata_count; i++) {
        const sb_pair *pair = &options->metadata[i];
        if (pair->name == NULL || !is_key(pair->name)) {
            return sbi_fail(err, SB_INVALID,
                            "metadata: a name must be 1 to %d letters, digits and marks that may "
                            "stand in a header's name",
                            MAX_KEY);
        }
        if (comes_again(options, i)) {
            return sbi_fail(err, SB_INVALID, "metadata: %s: there are two, which differ in case",
                            pair->name);
        }
        if (pair->value == NULL || !is_value(pair->value)) {
            return sbi_fail(err, SB_INVALID,
                            "metadata: %s: must be printable ASCII, without a space at its ends",
                            pair->name);
        }
    }
    /* Older servers would not say that they dropped it. */
    if (options->metadata_count > 0 && !box->config->local && box->address.version != NULL &&
        !sbi_address_has_version(&box->address, 0, 6, 2)) {
        return sbi_fail(err, SB_UNSUPPORTED, "metadata: the sandbox's server is too old (%s)",
                        box->address.version);
    }
    return 0;
}

static int add_metadata(struct sbi_exchange *exchange, const sb_write_options *options,
                        sb_error *err) {
    for (size_t i = 0; i < options->metadata_count; i++) {
        const sb_pair *pair = &options->metadata[i];
        char *line = NULL;
        /* libcurl's way to say that a header is empty. */
        int length = pair->value[0] != '\0'
                         ? asprintf(&line, "X-Metadata-%s: %s", pair->name, pair->value)
                         : asprintf(&line, "X-Metadata-%s;", pair->name);
        int status = length < 0 ? sbi_no_memory(err) : sbi_exchange_add_header(exchange, line, err);
        free(length < 0 ? NULL : line);
        if (status != 0) {
            return -1;
        }
    }
    return 0;
}

/* --- the operation */

static bool takes_plain_bodies(const sb_box *box) {
    return box->config->local || box->address.version == NULL ||
           sbi_address_has_version(&box->address, 0, 5, 7);
}

static int set_small_body(struct sbi_exchange *exchange, const struct sbi_file_body *body,
                          sb_error *err) {
    size_t length = (size_t)body->left;
    char *copy = malloc(length + 1);
    if (copy == NULL) {
        return sbi_no_memory(err);
    }
    if (length > 0) {
        memcpy(copy, body->bytes, length);
    }
    return sbi_exchange_set_body(exchange, copy, length, "application/octet-stream", err);
}

static int describe(struct file_write *write, struct sbi_exchange *exchange,
                    const sb_write_options *options, sb_error *err) {
    struct sbi_file_body *body = &write->body;
    char type[128];
    if (add_metadata(exchange, options, err) != 0) {
        return -1;
    }
    if (!takes_plain_bodies(write->box)) {
        if (sbi_file_body_make_form(body, err) != 0) {
            return -1;
        }
    } else if (body->kind == SBI_BODY_MEMORY && body->left <= SMALL_BODY) {
        return set_small_body(exchange, body, err);
    }
    sbi_file_body_type(body, type, sizeof type);
    return sbi_exchange_set_source(exchange, &write_source, sbi_file_body_length(body), type, err);
}

static sb_op *new_write(sb_box *box, const sb_write_options *options, sb_error *err) {
    sb_op *op = sbi_op_new_sized(box->loop, &write_kind, sizeof(struct file_write), err);
    if (op == NULL) {
        return NULL;
    }
    struct file_write *write = op->data;
    write->box = sbi_box_keep(box);
    if (sbi_file_body_init(&write->body, options, err) != 0) {
        sb_op_free(op);
        return NULL;
    }
    op->feed = options->feed ? &write->body.feed : NULL;
    return op;
}

sb_op *sb_file_write(sb_box *box, const char *path, const sb_write_options *options,
                     sb_error *err) {
    static const sb_write_options defaults;
    options = options != NULL ? options : &defaults;
    if (sbi_transfer_check(path, options->idle_timeout, err) != 0 ||
        check_metadata(box, options, err) != 0) {
        return NULL;
    }
    sb_op *op = new_write(box, options, err);
    if (op == NULL) {
        return NULL;
    }
    if (sbi_box_refuses(box, op)) {
        return op;
    }
    struct sbi_exchange *exchange = sbi_transfer_exchange(op, box, "POST", path, options->user,
                                                          options->idle_timeout, on_done, err);
    if (exchange == NULL || describe(op->data, exchange, options, err) != 0) {
        sb_op_free(op);
        return NULL;
    }
    sbi_op_send(op, SBI_OP_STREAM);
    return op;
}

/* --- feeding */

size_t sb_op_feed_room(const sb_op *op) {
    return op->feed != NULL && !op->done ? sbi_feed_room(op->feed) : 0;
}

static int check_feed(const sb_op *op, sb_error *err) {
    if (op->feed == NULL) {
        return sbi_fail(err, SB_INVALID, "the operation is not one that is fed");
    }
    if (op->done && op->error.code != SB_OK) {
        return sb_op_error(op, err), -1;
    }
    if (op->done || op->feed->has_ended) {
        return sbi_fail(err, SB_INVALID, "the write has had its end");
    }
    return 0;
}

int sb_op_feed(sb_op *op, const char *bytes, size_t length, sb_error *err) {
    if (check_feed(op, err) != 0) {
        return -1;
    }
    if (sbi_feed_add(op->feed, bytes, length) != 0) {
        return sbi_no_memory(err);
    }
    if (op->exchange != NULL && length > 0) {
        sbi_exchange_more(op->exchange);
    }
    return 0;
}

int sb_op_feed_end(sb_op *op, sb_error *err) {
    if (check_feed(op, err) != 0) {
        return -1;
    }
    op->feed->has_ended = true;
    if (op->exchange != NULL) {
        sbi_exchange_more(op->exchange);
    }
    return 0;
}
