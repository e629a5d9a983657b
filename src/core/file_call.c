/* The calls about files that are one question and one answer. */
#include "box.h"
#include "error.h"
#include "file_entry.h"
#include "file_error.h"
#include "rpc.h"
#include "sandbox.h"
#include "wire.h"

#include <string.h>

/* Of a listing: about a hundred thousand names. */
#define MAX_LISTING (32u * 1024 * 1024)

static const struct sbi_op_kind list_kind = {.name = "list", .release = sbi_box_op_release};

typedef void on_answer(void *op, struct sbi_exchange *exchange);

static void finish(sb_op *op, sb_error *error) {
    sbi_box_explain_closed(op->data, error);
    sbi_op_finish(op, error);
}

/* Ends op with the entry, or the list of them, that is the answer's member (NULL: the answer). */
static void finish_with(sb_op *op, struct sbi_exchange *exchange, const char *member) {
    sb_error error = {0};
    json_t *answer = sbi_file_answer(exchange, &error);
    if (answer != NULL) {
        json_t *inner = member != NULL ? json_object_get(answer, member) : answer;
        bool is_list = op->kind == &list_kind;
        if (json_is_object(answer) &&
            (is_list ? inner == NULL || json_is_array(inner) : json_is_object(inner))) {
            op->entries = sbi_entries_new(json_incref(inner), &error);
        } else {
            sbi_fail_status(&error, SB_PROTOCOL, exchange->status, "the server's answer has no %s",
                            member != NULL ? member : "members");
        }
        json_decref(answer);
    }
    finish(op, &error);
}

static void on_entry(void *user, struct sbi_exchange *exchange) {
    finish_with(user, exchange, "entry");
}

static void on_entries(void *user, struct sbi_exchange *exchange) {
    finish_with(user, exchange, "entries");
}

static void on_composed(void *user, struct sbi_exchange *exchange) {
    finish_with(user, exchange, NULL);
}

static void on_plain(void *user, struct sbi_exchange *exchange) {
    sb_error error = {0};
    sbi_file_check(exchange, &error);
    finish(user, &error);
}

static void on_made(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    op->flag = sbi_file_check(exchange, &error) == 0;
    if (sbi_rpc_says(exchange, "already_exists")) {
        error = (sb_error){0};
    }
    finish(op, &error);
}

/* Takes the reference to message. */
static sb_op *call(sb_box *box, const struct sbi_op_kind *kind, const char *user, const char *path,
                   json_t *message, on_answer *done, sb_error *err) {
    sb_op *op = sbi_box_op(box, kind, err);
    if (op == NULL || op->done) {
        json_decref(message);
        return op;
    }
    return sbi_rpc_start(op, box, user, path, message, done, err);
}

static const struct sbi_op_kind info_kind = {.name = "info", .release = sbi_box_op_release};

sb_op *sb_file_info(sb_box *box, const char *path, const char *user, sb_error *err) {
    if (sbi_file_check_path(path, "path", true, err) != 0) {
        return NULL;
    }
    return call(box, &info_kind, user, "/filesystem.Filesystem/Stat",
                json_pack("{s:s}", "path", path), on_entry, err);
}

sb_op *sb_file_list(sb_box *box, const char *path, unsigned depth, const char *user,
                    sb_error *err) {
    if (sbi_file_check_path(path, "path", true, err) != 0) {
        return NULL;
    }
    if (depth == 0) {
        sbi_fail(err, SB_INVALID, "depth: must be at least 1");
        return NULL;
    }
    sb_op *op =
        call(box, &list_kind, user, "/filesystem.Filesystem/ListDir",
             json_pack("{s:s, s:I}", "path", path, "depth", (json_int_t)depth), on_entries, err);
    if (op != NULL && op->exchange != NULL) {
        op->exchange->answer.max = MAX_LISTING;
    }
    return op;
}

static const struct sbi_op_kind make_kind = {.name = "make directory",
                                             .release = sbi_box_op_release};

sb_op *sb_file_make_dir(sb_box *box, const char *path, const char *user, sb_error *err) {
    if (sbi_file_check_path(path, "path", true, err) != 0) {
        return NULL;
    }
    return call(box, &make_kind, user, "/filesystem.Filesystem/MakeDir",
                json_pack("{s:s}", "path", path), on_made, err);
}

static const struct sbi_op_kind rename_kind = {.name = "rename", .release = sbi_box_op_release};

sb_op *sb_file_rename(sb_box *box, const char *from, const char *to, const char *user,
                      sb_error *err) {
    if (sbi_file_check_path(from, "from", true, err) != 0 ||
        sbi_file_check_path(to, "to", true, err) != 0) {
        return NULL;
    }
    return call(box, &rename_kind, user, "/filesystem.Filesystem/Move",
                json_pack("{s:s, s:s}", "source", from, "destination", to), on_entry, err);
}

static const struct sbi_op_kind remove_kind = {.name = "remove", .release = sbi_box_op_release};

sb_op *sb_file_remove(sb_box *box, const char *path, const char *user, sb_error *err) {
    if (sbi_file_check_path(path, "path", true, err) != 0) {
        return NULL;
    }
    return call(box, &remove_kind, user, "/filesystem.Filesystem/Remove",
                json_pack("{s:s}", "path", path), on_plain, err);
}

/* --- compose: the one that is no Connect call */

static json_t *compose_message(const char *const *sources, size_t count, const char *to,
                               const char *user, sb_error *err) {
    json_t *list = json_array();
    int status = 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        status = sbi_file_check_path(sources[i], "source", true, err);
        if (status == 0 && json_array_append_new(list, json_string(sources[i])) != 0) {
            status = sbi_no_memory(err);
        }
    }
    if (status != 0) {
        json_decref(list);
        return NULL;
    }
    json_t *message =
        json_pack("{s:o, s:s, s:s*}", "source_paths", list, "destination", to, "username", user);
    if (message == NULL) {
        sbi_fail(err, SB_INVALID, "user: is not UTF-8");
    }
    return message;
}

static const struct sbi_op_kind compose_kind = {.name = "compose", .release = sbi_box_op_release};

sb_op *sb_file_compose(sb_box *box, const char *const *sources, size_t source_count, const char *to,
                       const char *user, sb_error *err) {
    if (sbi_file_check_path(to, "to", true, err) != 0) {
        return NULL;
    }
    if (source_count == 0) {
        sbi_fail(err, SB_INVALID, "sources: there are none");
        return NULL;
    }
    json_t *message = compose_message(sources, source_count, to, user, err);
    sb_op *op = message != NULL ? sbi_box_op(box, &compose_kind, err) : NULL;
    if (op == NULL || op->done) {
        json_decref(message);
        return op;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_composed, err);
    int status = exchange == NULL ? -1
                                  : sbi_exchange_to_sandbox(exchange, &box->address, SBI_PORT_ENVD,
                                                            "POST", "/files/compose", err);
    if (status != 0) {
        json_decref(message);
    } else {
        status = sbi_exchange_set_json(exchange, message, err);
    }
    return sbi_send_or_drop(op, status);
}
