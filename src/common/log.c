#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"error", "warn", "info", "debug"};
static const char *program_name = "stepbox";
static log_level shown = LOG_LEVEL_WARN;

void log_open(const char *program, log_level level) {
    program_name = program;
    shown = level;
}

int log_level_parse(const char *name, log_level *level) {
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *level = (log_level)i;
            return 0;
        }
    }
    return -1;
}

/* snprintf's answer, cut to what really is in a buffer with `room` bytes. */
static size_t written(int printed, size_t room) {
    if (printed < 0)
        return 0;
    return (size_t)printed < room ? (size_t)printed : room - 1;
}

void log_at(log_level level, const char *format, ...) {
    if (level > shown)
        return;
    int saved = errno;

    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);

    char line[1024];
    size_t room = sizeof line - 1; /* the newline */
    size_t used = strftime(line, room, "%Y-%m-%dT%H:%M:%S", &utc);
    used +=
        written(snprintf(line + used, room - used, ".%03ldZ %s[%ld] %s: ", now.tv_nsec / 1000000,
                         program_name, (long)getpid(), level_names[level]),
                room - used);
    size_t text = used;
    va_list args;
    va_start(args, format);
    used += written(vsnprintf(line + used, room - used, format, args), room - used);
    va_end(args);

    for (size_t i = text; i < used; i++) {
        unsigned char c = (unsigned char)line[i];
        if (c < ' ' || c == 0x7f)
            line[i] = '?';
    }
    line[used++] = '\n';
    /* Nobody is told when this fails: there is no other place to say it. */
    while (write(STDERR_FILENO, line, used) < 0 && errno == EINTR)
        continue;
    errno = saved;
}
