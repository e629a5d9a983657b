#include "orphans.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "process.h"

int orphans_kill(bool (*keep)(pid_t pid, void *user), void *user) {
    DIR *processes = opendir("/proc");
    if (!processes)
        return 0;
    int killed = 0;
    struct dirent *entry;
    while ((entry = readdir(processes))) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (*end || pid <= 0 || process_parent((pid_t)pid) != getpid() ||
            (keep && keep((pid_t)pid, user)))
            continue;
        /* Our child cannot be reaped by anybody else, so the pid is still the same process. */
        kill((pid_t)pid, SIGKILL);
        killed++;
    }
    closedir(processes);
    return killed;
}
