/* filesystem_request.c - see filesystem_request.h */
#include "filesystem_request.h"

#include "connect_messages.h"
#include "connect_unary.h"
#include "path.h"
#include "user.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *filesystem_read(http_request *request) {
    if (!user_of_request_enter(request)) {
        connect_reply_error(request, "unauthenticated", user_unknown());
        return NULL;
    }
    return connect_unary_read(request);
}

char *filesystem_path(const struct agent *agent, http_request *request, const json_t *message,
                      const char *name, filesystem_refuse *refuse) {
    const json_t *value = json_object_get(message, name);
    const char *text = "", *fault;
    char why[200];
    size_t length = 0;
    if (json_is_string(value)) {
        text = json_string_value(value);
        length = json_string_length(value);
    } else if (value && !json_is_null(value)) {
        snprintf(why, sizeof why, "%s must be a string", name);
        refuse(request, "invalid_argument", why);
        return NULL;
    }
    char *path = path_resolve(agent, text, length, &fault);
    if (path)
        return path;
    snprintf(why, sizeof why, "%s: %s", name, fault);
    refuse(request, strcmp(fault, "out of memory") == 0 ? "resource_exhausted" : "invalid_argument",
           why);
    return NULL;
}

const json_t *filesystem_member(const json_t *message, const char *camel, const char *snake) {
    const json_t *value = json_object_get(message, camel);
    return value ? value : json_object_get(message, snake);
}

bool filesystem_flag(const json_t *value, bool *flag) {
    *flag = json_is_true(value);
    return !value || json_is_null(value) || json_is_boolean(value);
}

bool filesystem_number(const json_t *value, uint32_t *number) {
    double real = -1.0;
    char *end;
    *number = 0;
    if (!value || json_is_null(value))
        return true;
    if (json_is_number(value)) {
        real = json_number_value(value);
    } else if (json_string_length(value) > 0) {
        /* The protocol's JSON takes numbers as text too. */
        const char *text = json_string_value(value);
        real = strtod(text, &end);
        if (*end)
            real = -1.0;
    }
    if (!(real >= 0.0 && real <= UINT32_MAX) || real != (double)(uint32_t)real)
        return false;
    *number = (uint32_t)real;
    return true;
}

const char *filesystem_code(int error) {
    switch (error) {
    case ENOENT:
        return "not_found";
    case EEXIST:
    case ENOTEMPTY:
        return "already_exists";
    case ENOTDIR:
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case EXDEV:
        return "invalid_argument";
    case EACCES:
    case EPERM:
    case EROFS:
        return "permission_denied";
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EMLINK:
        return "resource_exhausted";
    case ELOOP:
    case EBUSY:
    case ETXTBSY:
        return "failed_precondition";
    case ESTALE:
        return "aborted";
    default:
        return "internal";
    }
}

void filesystem_describe(int error, char text[FILESYSTEM_ERROR_SIZE]) {
    if (error == EDQUOT)
        snprintf(text, FILESYSTEM_ERROR_SIZE, "no space left: the disk quota is exceeded");
    else
        snprintf(text, FILESYSTEM_ERROR_SIZE, "%s", strerror(error));
    if (*text >= 'A' && *text <= 'Z')
        *text |= 0x20; /* as the official server's messages begin */
}

void filesystem_message(char text[FILESYSTEM_MESSAGE_SIZE], const char *what, const char *path,
                        int error) {
    char why[FILESYSTEM_ERROR_SIZE];
    filesystem_describe(error, why);
    snprintf(text, FILESYSTEM_MESSAGE_SIZE, "%s '%.*s': %s", what, PATH_MAX, path, why);
}

void filesystem_reply_error(http_request *request, const char *what, const char *path, int error) {
    char text[FILESYSTEM_MESSAGE_SIZE];
    filesystem_message(text, what, path, error);
    connect_reply_error(request, filesystem_code(error), text);
}
