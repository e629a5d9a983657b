#include "rpc.h"

#include <string.h>
#include <strings.h>

/* Services report an operating system's error as its text within a code that says less. */
sb_code sbi_code_by_text(const char *message, sb_code otherwise) {
    static const struct {
        const char *text;
        sb_code code;
    } texts[] = {{"no space left", SB_NO_SPACE},
                 {"not enough disk space", SB_NO_SPACE},
                 {"disk quota exceeded", SB_NO_SPACE},
                 {"permission denied", SB_PERMISSION},
                 {"operation not permitted", SB_PERMISSION},
                 {"read-only file system", SB_PERMISSION},
                 {"is a directory", SB_IS_DIRECTORY},
                 {"not a directory", SB_NOT_DIRECTORY},
                 {"file exists", SB_EXISTS},
                 {"directory not empty", SB_EXISTS},
                 {"file name too long", SB_BAD_PATH},
                 {"too many levels of symbolic links", SB_BAD_PATH},
                 {"too many symbolic links", SB_BAD_PATH},
                 {"no such file or directory", SB_NOT_FOUND},
                 {"does not exist", SB_NOT_FOUND},
                 {"file too large", SB_TOO_LARGE}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcasestr(message, texts[i].text) != NULL) {
            return texts[i].code;
        }
    }
    return otherwise;
}

/* The protocol's codes. by_text: the message may say more. */
struct code {
    const char *name;
    sb_code code;
    bool by_text;
};

static const struct code *find_code(const char *name) {
    static const struct code codes[] = {
        {"canceled", SB_UNAVAILABLE, false},         {"unknown", SB_UNAVAILABLE, true},
        {"invalid_argument", SB_INVALID, true},      {"deadline_exceeded", SB_TIMEOUT, false},
        {"not_found", SB_NOT_FOUND, false},          {"already_exists", SB_EXISTS, false},
        {"permission_denied", SB_PERMISSION, false}, {"resource_exhausted", SB_RATE_LIMITED, true},
        {"failed_precondition", SB_INVALID, true},   {"aborted", SB_UNAVAILABLE, true},
        {"out_of_range", SB_INVALID, false},         {"unimplemented", SB_UNSUPPORTED, false},
        {"internal", SB_UNAVAILABLE, true},          {"unavailable", SB_UNAVAILABLE, true},
        {"data_loss", SB_UNAVAILABLE, true},         {"unauthenticated", SB_UNAUTHORIZED, false}};
    for (size_t i = 0; name != NULL && i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(codes[i].name, name) == 0) {
            return &codes[i];
        }
    }
    return NULL;
}

/* Proxies have errors with "code" too, which are numbers. */
static const char *code_name(const json_t *error) {
    return json_string_value(json_object_get(error, "code"));
}

static sb_code code_of(const struct code *known, const char *message, sb_code missing) {
    if (known == NULL) {
        return SB_UNAVAILABLE;
    }
    if (known->code == SB_NOT_FOUND) {
        return missing;
    }
    if (known->code == SB_RATE_LIMITED && strstr(message, "larger than") != NULL) {
        return SB_TOO_LARGE; /* a message over the server's bound */
    }
    return known->by_text ? sbi_code_by_text(message, known->code) : known->code;
}

int sbi_rpc_fail(const json_t *error, int status, sb_code missing, sb_error *err) {
    const char *name = code_name(error);
    const char *message = json_string_value(json_object_get(error, "message"));
    if (message == NULL || message[0] == '\0') {
        message = name != NULL ? name : "the server says that it failed, and not how";
    }
    return sbi_fail_status(err, code_of(find_code(name), message, missing), status, "%s", message);
}

/* The error that the service itself answered, a new reference, or NULL. */
static json_t *error_of(const struct sbi_exchange *exchange) {
    if (exchange->error.code != SB_OK || (exchange->status >= 200 && exchange->status <= 299)) {
        return NULL;
    }
    json_t *root =
        json_loadb(sbi_buffer_string(&exchange->answer), exchange->answer.length, 0, NULL);
    if (find_code(code_name(root)) == NULL) {
        json_decref(root);
        return NULL;
    }
    return root;
}

bool sbi_rpc_says(const struct sbi_exchange *exchange, const char *code) {
    json_t *error = error_of(exchange);
    bool says = error != NULL && strcmp(code_name(error), code) == 0;
    json_decref(error);
    return says;
}

/* A service that does not know a call leaves the answer to its router. */
static bool has_no_call(const struct sbi_exchange *exchange) {
    const char *body = sbi_buffer_string(&exchange->answer);
    return exchange->error.code == SB_OK &&
           (exchange->status == 405 ||
            (exchange->status == 404 && strncmp(body, "404 page not found", 18) == 0));
}

int sbi_rpc_check(const struct sbi_exchange *exchange, sb_code missing, sb_error *err) {
    if (exchange->was_cut) {
        return sbi_fail_status(err, SB_SANDBOX_LOST, exchange->status, "%s",
                               exchange->error.message);
    }
    json_t *error = error_of(exchange);
    if (error != NULL) {
        sbi_rpc_fail(error, exchange->status, missing, err);
        json_decref(error);
        return -1;
    }
    if (has_no_call(exchange)) {
        return sbi_fail_status(err, SB_UNSUPPORTED, exchange->status,
                               "this server has no such call");
    }
    return sbi_exchange_check(exchange, err);
}
