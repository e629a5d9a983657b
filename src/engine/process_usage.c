#include "process_usage.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two files are read for each, and one for each of its children's lists. */
#define MOST_PROCESSES 128

static bool read_text(pid_t pid, const char *name, char *text, size_t room) {
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got >= 0;
}

static void add_one(pid_t pid, struct process_usage *usage) {
    char text[1024];
    unsigned long long own[2] = {0};
    long long children[2] = {0};
    long resident = 0, shared = 0;
    if (!read_text(pid, "stat", text, sizeof text))
        return;
    /* utime, stime, cutime and cstime are the 12th to 15th behind the name, which ends with the
     * last parenthesis. */
    const char *at = strrchr(text, ')');
    for (int i = 0; at && i < 12; i++)
        at = strchr(at + 1, ' ');
    if (at && sscanf(at, " %llu %llu %lld %lld", &own[0], &own[1], &children[0], &children[1]) == 4)
        usage->cpu_time +=
            (int64_t)((double)(own[0] + own[1] + (unsigned long long)(children[0] + children[1])) *
                      1e9 / (double)sysconf(_SC_CLK_TCK));
    if (read_text(pid, "statm", text, sizeof text) &&
        sscanf(text, "%*d %ld %ld", &resident, &shared) == 2 && resident > shared)
        usage->memory += (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
    usage->processes++;
}

/* Adds the numbers of the children of a process to a list. */
static size_t add_children(pid_t pid, pid_t *list, size_t count) {
    char name[64], text[4096];
    snprintf(name, sizeof name, "task/%d/children", (int)pid);
    if (!read_text(pid, name, text, sizeof text))
        return count;
    for (char *at = text, *end; count < MOST_PROCESSES; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at || *end != ' ') /* the last may be cut */
            break;
        list[count++] = (pid_t)child;
    }
    return count;
}

void process_usage_read(pid_t first, struct process_usage *usage) {
    pid_t list[MOST_PROCESSES] = {first};
    size_t count = 1;
    *usage = (struct process_usage){0};
    for (size_t i = 0; i < count; i++) {
        add_one(list[i], usage);
        count = add_children(list[i], list, count);
    }
}
