/* metrics.c - adds up what /proc tells of each process. The engine has better numbers where there
 * are control groups; these are for clients of the agent, and for an agent without an engine. */
#include "metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#define MEBIBYTE (1024 * 1024)
/* More are not looked at: the loop has others to serve. */
#define MOST_PROCESSES 256

struct usage {
    double cpu_time; /* seconds */
    int64_t memory;  /* bytes */
};

/* The usage at the call before this, or at the start of the agent. */
static struct {
    double clock;
    double cpu_time;
} before;

static bool read_text(int process, const char *name, char *text, size_t room) {
    int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static void add_process(int process, struct usage *usage) {
    char text[1024];
    long long times[4];
    long resident, shared;
    /* The times of the process and of those it has waited for are the 12th to 15th behind its name.
     */
    const char *at = read_text(process, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    for (int i = 0; at && i < 12; i++)
        at = strchr(at + 1, ' ');
    if (at && sscanf(at, " %lld %lld %lld %lld", &times[0], &times[1], &times[2], &times[3]) == 4)
        usage->cpu_time +=
            (double)(times[0] + times[1] + times[2] + times[3]) / (double)sysconf(_SC_CLK_TCK);
    if (read_text(process, "statm", text, sizeof text) &&
        sscanf(text, "%*d %ld %ld", &resident, &shared) == 2 && resident > shared)
        usage->memory += (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}

static struct usage add_all(void) {
    struct usage usage = {0};
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    int count = 0;
    while (processes && count < MOST_PROCESSES && (entry = readdir(processes))) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        int process = openat(dirfd(processes), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (process < 0)
            continue;
        add_process(process, &usage);
        close(process);
        count++;
    }
    if (processes)
        closedir(processes);
    return usage;
}

/* Of all processors, in percent. */
static double cpu_percent(const struct usage *usage, double cpus) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    double clock = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    double time = clock - before.clock;
    double percent =
        time > 0 && before.clock > 0 ? (usage->cpu_time - before.cpu_time) / time / cpus * 100 : 0;
    before.clock = clock;
    before.cpu_time = usage->cpu_time;
    return percent < 0 ? 0 : percent > 100 ? 100 : percent;
}

void metrics_handle(struct agent *agent, http_request *request) {
    struct usage usage = add_all();
    struct statfs disk = {0};
    double cpus = agent->cpus > 0 ? agent->cpus : (double)sysconf(_SC_NPROCESSORS_ONLN);
    int64_t total = agent->memory > 0
                        ? agent->memory
                        : (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    statfs(agent->home, &disk);
    int64_t used = (int64_t)(disk.f_blocks - disk.f_bfree) * disk.f_bsize;
    if (!agent->standalone)
        usage.memory += used; /* where its files are */
    http_reply_json(request, 200,
                    json_pack("{s:I, s:i, s:f, s:I, s:I, s:i, s:I, s:I, s:I, s:I}", "ts",
                              (json_int_t)time(NULL), "cpu_count",
                              cpus > (int)cpus ? (int)cpus + 1 : (int)cpus, "cpu_used_pct",
                              cpu_percent(&usage, cpus), "mem_total", (json_int_t)total, "mem_used",
                              (json_int_t)usage.memory, "mem_cache", 0, "mem_total_mib",
                              (json_int_t)(total / MEBIBYTE), "mem_used_mib",
                              (json_int_t)(usage.memory / MEBIBYTE), "disk_used", (json_int_t)used,
                              "disk_total", (json_int_t)disk.f_blocks * disk.f_bsize));
}
