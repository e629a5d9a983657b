/* shell_syntax.c - see shell_syntax.h */
#include "builtin.h"
#include "shell_syntax.h"

#include "bash_symbols.h"
#include "high_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Descriptors above those that scripts use by number. */
#define OUT_OF_THE_WAY 200

/* Has what goes to standard error kept in a pipe, as far as it fits. */
struct capture {
    int stderr_before; /* -1: it was closed */
    int from;
};

static int begin_capture(struct capture *capture) {
    int ends[2];
    capture->stderr_before = high_descriptor(2, OUT_OF_THE_WAY);
    if (capture->stderr_before < 0 && errno != EBADF)
        return -1;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
        capture->from = high_descriptor(ends[0], OUT_OF_THE_WAY);
        if (capture->from >= 0)
            dup2(ends[1], 2);
        for (int i = 0; i < 2; i++) {
            if (ends[i] != 2)
                close(ends[i]);
        }
        if (capture->from >= 0)
            return 0;
    }
    if (capture->stderr_before >= 0)
        close(capture->stderr_before);
    return -1;
}

static size_t end_capture(const struct capture *capture, char *text, size_t room) {
    size_t length = 0;
    ssize_t got;
    while (length < room && ((got = read(capture->from, text + length, room - length)) > 0 ||
                             (got < 0 && errno == EINTR)))
        length += got > 0 ? (size_t)got : 0;
    if (capture->stderr_before < 0) {
        close(2);
    } else {
        dup2(capture->stderr_before, 2);
        close(capture->stderr_before);
    }
    close(capture->from);
    return length;
}

/* Reads all of it without running it. */
static bool parses(const char *code) {
    int status = last_command_exit_value, no_execution = read_but_dont_execute, result;
    /* An error in the depth of a command jumps. */
    if (sigsetjmp(top_level, 0) == 0) {
        read_but_dont_execute = 1;
        result = parse_and_execute(strdup(code), SHELL_NAME,
                                   SEVAL_NOHIST | SEVAL_NOHISTEXP | SEVAL_RESETLINE);
    } else {
        result = -1;
    }
    read_but_dont_execute = no_execution;
    last_command_exit_value = status;
    return result == 0;
}

/* Patterns of extglob are no syntax until it is on, which a line of the code may do. */
static bool parses_with_extglob(const char *code) {
    int before = extended_glob;
    extended_glob = 1;
    bool right = parses(code);
    extended_glob = before;
    return right;
}

bool shell_syntax_is_right(const char *code, char *text, size_t room, size_t *length) {
    struct capture capture, unwanted;
    char none[1024];
    *length = 0;
    if (begin_capture(&capture))
        return true; /* the code's own run tells */
    bool right = parses(code);
    *length = end_capture(&capture, text, room);
    if (right || interrupt_state)
        return true;
    if (strstr(code, "alias"))
        return true;
    if (extended_glob || !strstr(code, "extglob") || begin_capture(&unwanted))
        return false;
    right = parses_with_extglob(code);
    end_capture(&unwanted, none, sizeof none);
    return right;
}
