#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The longest part of a name that a message shows. */
#define SHOWN 300

int archive_fail(sb_error *err, sb_code code, const char *format, ...) {
    if (err == NULL) {
        return -1;
    }
    *err = (sb_error){.code = code};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    for (char *at = err->message; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || (unsigned char)*at > '~') {
            *at = '?';
        }
    }
    return -1;
}

static sb_code code_of(int number) {
    switch (number) {
    case ENOENT:
        return SB_NOT_FOUND;
    case EISDIR:
    case ENOTEMPTY:
        return SB_IS_DIRECTORY;
    case ENOTDIR:
        return SB_NOT_DIRECTORY;
    case EEXIST:
        return SB_EXISTS;
    case ENOSPC:
    case EDQUOT:
        return SB_NO_SPACE;
    case EACCES:
    case EPERM:
    case EROFS:
        return SB_PERMISSION;
    case ENAMETOOLONG:
    case ELOOP:
        return SB_BAD_PATH;
    case EFBIG:
        return SB_TOO_LARGE;
    default:
        return SB_SYSTEM;
    }
}

int archive_fail_errno(sb_error *err, int number, const char *path) {
    return archive_fail(err, code_of(number), "%.*s: %s", SHOWN, path, strerror(number));
}

int archive_fail_format(sb_error *err, struct archive *archive) {
    const char *why = archive_error_string(archive);
    sb_code code = archive_errno(archive) == ENOMEM ? SB_SYSTEM : SB_PROTOCOL;
    return archive_fail(err, code, "the archive: %s", why != NULL ? why : "cannot be read");
}
