#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

static void say(int fd, const char *line) {
    if (fd < 0)
        return;
    size_t length = strlen(line);
    /* A starter that has gone meanwhile is not our failure: the error is not looked at. */
    while (write(fd, line, length) < 0 && errno == EINTR)
        continue;
    close(fd);
}

void report_ready(int fd) {
    say(fd, "ready\n");
}

void report_error(int fd, const char *message) {
    char line[1024];
    log_error("%s", message);
    snprintf(line, sizeof line - 1, "error: %s", message);
    strcat(line, "\n");
    say(fd, line);
}
