/* cgroup_sweep.c - the names of engines' groups, and what engines that are gone have left. */
#include "cgroups_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_file.h"

/* Numbers are the same process only within a namespace of processes, and only with the time of its
 * start: "stepbox-NAMESPACE-PID-START". */
struct maker {
    unsigned long long space, pid, start;
};

static bool read_space(unsigned long long *space) {
    struct stat about;
    if (stat("/proc/self/ns/pid", &about) < 0)
        return false;
    *space = about.st_ino;
    return true;
}

/* In clock ticks since the boot; false when no such process lives. */
static bool read_start(unsigned long long pid, unsigned long long *start) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%llu/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    /* The name, in parentheses, may have anything in it. The start is the 20th behind it. */
    char *at = strrchr(text, ')');
    if (at && (at[2] == 'Z' || at[2] == 'X'))
        return false; /* dead, and nobody has looked yet */
    for (int i = 0; at && i < 20; i++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, " %llu", start) == 1;
}

int cgroup_own_name(char name[CGROUP_NAME_MAX]) {
    struct maker maker = {.pid = (unsigned long long)getpid()};
    if (!read_space(&maker.space) || !read_start(maker.pid, &maker.start)) {
        errno = ESRCH;
        return -1;
    }
    snprintf(name, CGROUP_NAME_MAX, CGROUP_PREFIX "%llu-%llu-%llu", maker.space, maker.pid,
             maker.start);
    return 0;
}

/* Whether a group is of an engine that was in our namespace of processes and is gone. */
static bool is_stale(const char *name, unsigned long long space) {
    struct maker maker;
    unsigned long long start;
    int length = 0;
    if (sscanf(name, CGROUP_PREFIX "%llu-%llu-%llu%n", &maker.space, &maker.pid, &maker.start,
               &length) != 3 ||
        (name[length] && strcmp(name + length, CGROUP_ENGINE_SUFFIX) != 0) || maker.space != space)
        return false;
    return !read_start(maker.pid, &start) || start != maker.start;
}

/* Removes a group and those in it, as far as they have no processes. Returns whether all are gone.
 */
static bool remove_group(int parent, const char *name) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        if (fd >= 0)
            close(fd);
        return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
    }
    struct dirent *entry;
    while ((entry = readdir(directory)))
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            /* In version 1 what was killed while it was frozen ends when it goes on. */
            cgroup_file_write(fd, entry->d_name, "freezer.state", "THAWED");
            unlinkat(fd, entry->d_name, AT_REMOVEDIR);
        }
    closedir(directory);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

static int sweep_directory(const char *path, unsigned long long space) {
    DIR *directory = opendir(path);
    if (!directory)
        return 0;
    int left = 0;
    struct dirent *entry;
    while ((entry = readdir(directory)))
        if (entry->d_type == DT_DIR && is_stale(entry->d_name, space) &&
            !remove_group(dirfd(directory), entry->d_name))
            left++;
    closedir(directory);
    return left;
}

/* When we are in the group to which an engine that is gone had stepped aside, because we are its
 * watchdog: goes back to the one above. That takes no processes as long as it has controllers for
 * groups in it. path: of our own group; becomes that of the one above. */
static void step_back(char *path, unsigned long long space) {
    char *slash = strrchr(path, '/');
    if (!slash || !is_stale(slash + 1, space))
        return;
    *slash = '\0';
    sweep_directory(path, space);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    static const char *const controllers[] = {"-memory", "-pids", "-cpu"};
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
        cgroup_file_write(fd, ".", "cgroup.subtree_control", controllers[i]);
    cgroup_file_write_number(fd, ".", "cgroup.procs", getpid());
    close(fd);
}

int cgroups_sweep(void) {
    struct cgroup_place *places = calloc(CGROUP_PLACES_MAX, sizeof *places);
    unsigned long long space;
    size_t count = places && read_space(&space) ? cgroup_places_find(places) : 0;
    int left = 0;
    for (size_t i = 0; i < count; i++) {
        char *path = places[i].path;
        size_t mount = strlen(places[i].mount);
        if (places[i].unified)
            step_back(path, space);
        left += sweep_directory(path, space);
        /* In version 2 an engine may have taken a place further up (cgroup_base.c). */
        while (places[i].unified && strlen(path) > mount) {
            *strrchr(path, '/') = '\0';
            left += sweep_directory(path, space);
        }
    }
    free(places);
    return left;
}
