#include "orphans.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The parent of a process, or -1. */
static pid_t parent_of(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return -1;
    text[got] = '\0';
    /* "PID (NAME) STATE PPID ...": the name may hold anything, so look for its end from the right.
     */
    const char *end = strrchr(text, ')');
    long parent;
    if (!end || sscanf(end + 1, " %*c %ld", &parent) != 1)
        return -1;
    return (pid_t)parent;
}

int orphans_kill(bool (*keep)(pid_t pid, void *user), void *user) {
    DIR *processes = opendir("/proc");
    if (!processes)
        return 0;
    int killed = 0;
    struct dirent *entry;
    while ((entry = readdir(processes))) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (*end || pid <= 0 || parent_of((pid_t)pid) != getpid() ||
            (keep && keep((pid_t)pid, user)))
            continue;
        /* Our child cannot be reaped by anybody else, so the pid is still the same process. */
        kill((pid_t)pid, SIGKILL);
        killed++;
    }
    closedir(processes);
    return killed;
}
