#include "file_error.h"

#include "answer.h"
#include "error.h"
#include "rpc.h"
#include "text.h"

#include <string.h>
#include <strings.h>

/* More than any system takes, and little enough for a URL. */
#define MAX_PATH 16384u

void sbi_file_refine(sb_error *error) {
    static const struct {
        const char *text;
        sb_code code;
    } texts[] = {
        {"cyclic symlink", SB_BAD_PATH},         {"path is a file", SB_NOT_DIRECTORY},
        {"not enough space", SB_NO_SPACE},       {"not enough inodes", SB_NO_SPACE},
        {"not a regular file", SB_IS_DIRECTORY}, {"too long", SB_BAD_PATH},
        {"user-specific home", SB_BAD_PATH},     {"home directories of other users", SB_BAD_PATH}};
    if (error->code != SB_INVALID && error->code != SB_UNAVAILABLE) {
        return;
    }
    error->code = sbi_code_by_text(error->message, error->code);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcasestr(error->message, texts[i].text) != NULL) {
            error->code = texts[i].code;
        }
    }
}

/* An error of the sandbox's own server outside of the Connect protocol: {message, code}, where the
 * code is the status. What stands before it adds the sandbox's id, or is no JSON at all. */
static bool is_servers(const struct sbi_exchange *exchange) {
    json_t *root =
        json_loadb(sbi_buffer_string(&exchange->answer), exchange->answer.length, 0, NULL);
    bool is = json_is_string(json_object_get(root, "message")) &&
              json_integer_value(json_object_get(root, "code")) == exchange->status &&
              json_object_get(root, "sandboxId") == NULL;
    json_decref(root);
    return is;
}

static sb_code code_of_status(int status, sb_code otherwise) {
    switch (status) {
    case 403:
        return SB_PERMISSION;
    case 404:
        return SB_NOT_FOUND;
    case 409:
        return SB_EXISTS;
    case 507:
        return SB_NO_SPACE;
    default:
        return otherwise;
    }
}

static int explain_servers(const struct sbi_exchange *exchange, sb_error *err) {
    sb_error error;
    char message[400] = "";
    sbi_exchange_check(exchange, &error);
    sbi_answer_message(message, sizeof message, exchange->content_type,
                       sbi_buffer_string(&exchange->answer), exchange->answer.length);
    sbi_fail_status(&error, code_of_status(exchange->status, error.code), exchange->status, "%s",
                    message);
    sbi_file_refine(&error);
    return sbi_fail_status(err, error.code, error.status, "%s", error.message);
}

int sbi_file_check(const struct sbi_exchange *exchange, sb_error *err) {
    sb_error error = {0};
    if (exchange->error.code == SB_OK && exchange->status >= 300 && is_servers(exchange)) {
        return explain_servers(exchange, err);
    }
    if (sbi_rpc_check(exchange, SB_NOT_FOUND, &error) == 0) {
        /* Without a length or chunks the end of an answer looks like a cut. */
        return exchange->is_framed || exchange->status == 204
                   ? 0
                   : sbi_fail_status(err, SB_SANDBOX_LOST, exchange->status,
                                     "the connection ended without saying that the answer did");
    }
    if (error.code == SB_NOT_FOUND && !sbi_rpc_says(exchange, "not_found")) {
        error.code = SB_SANDBOX_LOST;
    } else if (exchange->error.code == SB_OK) {
        sbi_file_refine(&error);
    }
    return sbi_fail_status(err, error.code, error.status, "%s", error.message);
}

json_t *sbi_file_answer(const struct sbi_exchange *exchange, sb_error *err) {
    return sbi_file_check(exchange, err) == 0 ? sbi_exchange_json(exchange, err) : NULL;
}

int sbi_file_check_path(const char *path, const char *what, bool is_json, sb_error *err) {
    if (path == NULL || path[0] == '\0') {
        return sbi_fail(err, SB_BAD_PATH, "%s: is empty", what);
    }
    size_t length = strlen(path);
    if (length > MAX_PATH) {
        return sbi_fail(err, SB_BAD_PATH, "%s: is too long", what);
    }
    for (size_t at = 0, step; is_json && at < length; at += step) {
        step = sbi_utf8_sequence(path + at, length - at);
        if (step == 0) {
            return sbi_fail(err, SB_BAD_PATH, "%s: is not UTF-8", what);
        }
    }
    return 0;
}
