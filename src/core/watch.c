/* Watching a directory: a stream of what changes in it. */
#include "box.h"
#include "error.h"
#include "events.h"
#include "file_error.h"
#include "rpc_stream.h"

#include <stdlib.h>
#include <string.h>

struct watch {
    sb_box *box;
    struct sbi_rpc_stream stream;
    struct sbi_events events;
};

/* A kind of change that does not exist yet is 0. */
static sb_file_change change_of(const json_t *type) {
    static const char *const names[] = {"EVENT_TYPE_CREATE", "EVENT_TYPE_WRITE",
                                        "EVENT_TYPE_REMOVE", "EVENT_TYPE_RENAME",
                                        "EVENT_TYPE_CHMOD"};
    const char *name = json_string_value(type);
    for (int i = 0; name != NULL && i < SB_CHANGE_CHMOD; i++) {
        if (strcmp(names[i], name) == 0) {
            return (sb_file_change)(i + 1);
        }
    }
    json_int_t number = json_integer_value(type);
    return number >= SB_CHANGE_CREATE && number <= SB_CHANGE_CHMOD ? (sb_file_change)number : 0;
}

static int take_change(sb_op *op, json_t *event, sb_error *err) {
    struct watch *watch = op->data;
    sb_file_change change = change_of(json_object_get(event, "type"));
    const json_t *name = json_object_get(event, "name");
    json_t *entry = json_object_get(event, "entry");
    if (change == 0) {
        return 0;
    }
    if (name != NULL && !json_is_string(name)) {
        return sbi_fail(err, SB_PROTOCOL, "a change whose name is no string");
    }
    sbi_op_mark_ready(op);
    return sbi_events_add_file(&watch->events, change, name != NULL ? json_string_value(name) : "",
                               json_is_null(entry) ? NULL : entry, err);
}

static int on_message(void *user, const char *json, size_t length, sb_error *err) {
    sb_op *op = user;
    json_t *message = sbi_rpc_message_parse(json, length, err);
    if (message == NULL) {
        return -1;
    }
    json_t *change = json_object_get(message, "filesystem");
    int status = 0;
    if (change != NULL && !json_is_object(change)) {
        status = sbi_fail(err, SB_PROTOCOL, "a change that is no object");
    } else if (change != NULL) {
        status = take_change(op, change, err);
    } else if (json_object_get(message, "start") != NULL && !op->flag) {
        op->flag = true;
        sbi_op_mark_ready(op);
    }
    json_decref(message);
    return status;
}

static int on_data(void *user, const char *bytes, size_t length, sb_error *err) {
    sb_op *op = user;
    struct watch *watch = op->data;
    return sbi_rpc_stream_data(&watch->stream, op->exchange, bytes, length, err);
}

static bool is_full(void *user) {
    const sb_op *op = user;
    return sbi_events_are_full(op->events);
}

static const struct sbi_stream watch_stream = {on_data, is_full};

static void explain(const sb_op *op, const struct sbi_exchange *exchange, sb_error *err) {
    const struct watch *watch = op->data;
    if (sbi_rpc_stream_result(&watch->stream, exchange, err) == 0) {
        if (!op->flag) {
            sbi_fail_status(err, SB_PROTOCOL, exchange->status, "it ended before it had begun");
        }
        return;
    }
    if (watch->stream.error.code != SB_OK) {
        sbi_file_refine(err);
    } else if (exchange->error.code == SB_OK && exchange->status != 200) {
        sbi_file_check(exchange, err);
    } else if (err->code == SB_NOT_FOUND) {
        err->code = SB_SANDBOX_LOST;
    }
}

static void on_done(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct watch *watch = op->data;
    sb_error error = {0};
    explain(op, exchange, &error);
    sbi_box_explain_closed(watch->box, &error);
    sbi_op_finish(op, &error);
}

static void release(sb_op *op) {
    struct watch *watch = op->data;
    sbi_rpc_stream_free(&watch->stream);
    sbi_events_free(&watch->events);
    sbi_box_release(watch->box);
    free(watch);
}

static const struct sbi_op_kind watch_kind = {.name = "watch", .release = release};

static sb_op *new_watch(sb_box *box, sb_error *err) {
    sb_op *op = sbi_op_new_sized(box->loop, &watch_kind, sizeof(struct watch), err);
    if (op == NULL) {
        return NULL;
    }
    struct watch *watch = op->data;
    op->events = &watch->events;
    watch->box = sbi_box_keep(box);
    sbi_rpc_stream_init(&watch->stream, on_message, op, SB_NOT_FOUND, "the watch's end");
    return op;
}

static int describe(sb_op *op, sb_box *box, const char *path, const sb_watch_options *options,
                    sb_error *err) {
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_done, err);
    if (exchange == NULL) {
        return -1;
    }
    json_t *message = json_pack("{s:s, s:b, s:b, s:b}", "path", path, "recursive",
                                options->recursive, "includeEntry", options->include_entry,
                                "allowNetworkMounts", options->allow_network_mounts);
    exchange->stream = &watch_stream;
    /* The request's time is for the answer's begin: a watch has no deadline. */
    exchange->timeout_ends_at_answer = true;
    return sbi_rpc_stream_request(exchange, &box->address, options->user,
                                  "/filesystem.Filesystem/WatchDir", message, err);
}

sb_op *sb_watch(sb_box *box, const char *path, const sb_watch_options *options, sb_error *err) {
    static const sb_watch_options defaults;
    options = options != NULL ? options : &defaults;
    sb_op *op = sbi_file_check_path(path, "path", true, err) == 0 ? new_watch(box, err) : NULL;
    if (op == NULL) {
        return NULL;
    }
    if (sbi_box_refuses(box, op)) {
        return op;
    }
    if (describe(op, box, path, options, err) != 0) {
        sb_op_free(op);
        return NULL;
    }
    sbi_op_send(op, SBI_OP_STREAM);
    return op;
}
