#include "error.h"

#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *sb_code_name(sb_code code) {
    switch (code) {
    case SB_OK:
        return "ok";
    case SB_INVALID:
        return "invalid";
    case SB_TIMEOUT:
        return "timeout";
    case SB_NOT_FOUND:
        return "not_found";
    case SB_CLOSED:
        return "closed";
    case SB_UNAUTHORIZED:
        return "unauthorized";
    case SB_RATE_LIMITED:
        return "rate_limited";
    case SB_UNAVAILABLE:
        return "unavailable";
    case SB_PROTOCOL:
        return "protocol";
    case SB_SANDBOX_LOST:
        return "sandbox_lost";
    case SB_CONTEXT_LOST:
        return "context_lost";
    case SB_CANCELLED:
        return "cancelled";
    case SB_UNSUPPORTED:
        return "unsupported";
    case SB_SETUP_FAILED:
        return "setup_failed";
    case SB_TOO_LARGE:
        return "too_large";
    case SB_IS_DIRECTORY:
        return "is_directory";
    case SB_NOT_DIRECTORY:
        return "not_directory";
    case SB_EXISTS:
        return "exists";
    case SB_NO_SPACE:
        return "no_space";
    case SB_PERMISSION:
        return "permission";
    case SB_BAD_PATH:
        return "bad_path";
    case SB_PROCESS_GONE:
        return "process_gone";
    case SB_SYSTEM:
        return "system";
    }
    return "unknown";
}

static void fill(sb_error *err, sb_code code, int status, const char *format, va_list arguments) {
    int saved = errno;
    /* Made apart first: the arguments may point into *err. */
    char message[sizeof err->message];
    if (vsnprintf(message, sizeof message, format, arguments) < 0 || message[0] == '\0') {
        snprintf(message, sizeof message, "%s", sb_code_name(code));
    }
    sbi_text_clean(message);
    err->code = code;
    err->status = status;
    memcpy(err->message, message, sizeof message);
    errno = saved;
}

int sbi_fail(sb_error *err, sb_code code, const char *format, ...) {
    if (err != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(err, code, 0, format, arguments);
        va_end(arguments);
    }
    return -1;
}

int sbi_fail_status(sb_error *err, sb_code code, int status, const char *format, ...) {
    if (err != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(err, code, status, format, arguments);
        va_end(arguments);
    }
    return -1;
}

int sbi_no_memory(sb_error *err) {
    return sbi_fail(err, SB_SYSTEM, "out of memory");
}

void sbi_error_wrap(sb_error *err, const char *outer) {
    if (err == NULL || err->code == SB_OK) {
        return;
    }
    sbi_fail_status(err, err->code, err->status, "%s: %s", outer, err->message);
}
