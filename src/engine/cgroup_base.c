/*
 * cgroup_base.c - the engine's own group, in which those of the sandboxes are.
 *
 * In version 1 it is below the group that the engine was started in, in each hierarchy. In version
 * 2 a group cannot have both processes and controllers for groups in it: the engine and its
 * watchdog step aside, and where others are in the way the groups above are tried, which root may
 * use.
 */
#include "cgroups_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_file.h"

#define DELEGATE                                                                                   \
    "start the engine in a group of its own: systemd-run --user --scope -p Delegate=yes stepboxd"

/* Those of version 2. */
static const struct {
    const char *name;
    unsigned flag;
} unified_names[] = {
    {"memory", CGROUP_MEMORY}, {"pids", CGROUP_PIDS}, {"cpu", CGROUP_CPU | CGROUP_CPUACCT}};

#define UNIFIED_COUNT (sizeof unified_names / sizeof *unified_names)

/* Keeps why a group cannot be used. -1. */
static int fail(struct cgroups *cgroups, const char *path, const char *what) {
    snprintf(cgroups->reason, sizeof cgroups->reason, "the control group %.120s %s: " DELEGATE,
             path, what);
    return -1;
}

static int fail_with(struct cgroups *cgroups, const char *path, int number) {
    char what[100];
    snprintf(what, sizeof what, "cannot be used (%s)", strerror(number));
    return fail(cgroups, path, what);
}

static int open_group(int directory, const char *path) {
    return openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Makes our group in the one that `path` names, and adds the hierarchy. 0, or -1 with reason. */
static int make_base(struct cgroups *cgroups, const char *path, unsigned controllers) {
    int parent = open_group(AT_FDCWD, path), made = -1;
    if (parent >= 0 && (made = mkdirat(parent, cgroups->base, 0755)) == 0) {
        int fd = open_group(parent, cgroups->base);
        if (fd >= 0) {
            cgroups->hierarchies[cgroups->count++] = (struct cgroup_hierarchy){
                .fd = fd, .parent_fd = parent, .controllers = controllers};
            cgroups->controllers |= controllers;
            return 0;
        }
    }
    int saved = errno;
    if (made == 0)
        unlinkat(parent, cgroups->base, AT_REMOVEDIR);
    if (parent >= 0)
        close(parent);
    return fail_with(cgroups, path, saved);
}

static void drop_base(struct cgroups *cgroups) {
    struct cgroup_hierarchy *last = &cgroups->hierarchies[--cgroups->count];
    close(last->fd);
    unlinkat(last->parent_fd, cgroups->base, AT_REMOVEDIR);
    close(last->parent_fd);
    cgroups->controllers = 0;
}

static void make_v1(struct cgroups *cgroups, const struct cgroup_place *places, size_t count,
                    int64_t all_memory) {
    for (size_t i = 0; i < count; i++) {
        if (places[i].unified || make_base(cgroups, places[i].path, places[i].controllers) < 0)
            continue;
        int fd = cgroups->hierarchies[cgroups->count - 1].fd;
        /* All sandboxes together weigh as much as a process on each processor. */
        if (places[i].controllers & CGROUP_CPU)
            cgroup_file_write_number(fd, ".", "cpu.shares", 1024 * cgroup_processors());
        if (!(places[i].controllers & CGROUP_MEMORY))
            continue;
        /* Kernels before 5.11 count groups within groups only when told. */
        cgroup_file_write(fd, ".", "memory.use_hierarchy", "1");
        cgroup_file_write_number(fd, ".", "memory.limit_in_bytes", all_memory);
    }
    if (cgroups->controllers & CGROUP_MEMORY) {
        cgroups->version = &cgroup_v1;
        return;
    }
    while (cgroups->count)
        drop_base(cgroups);
}

/* Of a file that lists names of controllers. */
static unsigned listed(int directory, const char *group, const char *file) {
    char text[CGROUP_FILE_MAX];
    unsigned found = 0;
    if (cgroup_file_read(directory, group, file, text) < 0)
        return 0;
    for (size_t i = 0; i < UNIFIED_COUNT; i++)
        if (cgroup_text_has(text, unified_names[i].name))
            found |= unified_names[i].flag;
    return found;
}

static int enable(int directory, const char *group, unsigned wanted) {
    char text[64] = "";
    wanted &= ~listed(directory, group, "cgroup.subtree_control");
    for (size_t i = 0; i < UNIFIED_COUNT; i++)
        if (wanted & unified_names[i].flag) {
            strcat(text, text[0] ? " +" : "+");
            strcat(text, unified_names[i].name);
        }
    return text[0] ? cgroup_file_write(directory, group, "cgroup.subtree_control", text) : 0;
}

static bool is_same_program(pid_t pid) {
    char path[64];
    struct stat own, other;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/* Moves the processes of a group that run this program: the engine, its watchdog, and the one that
 * waits for the engine to be ready. */
static int move_own(int parent, const char *from, const char *to) {
    char text[CGROUP_FILE_MAX];
    if (cgroup_file_read(parent, from, "cgroup.procs", text) < 0)
        return -1;
    int result = 0;
    for (char *at = text, *end; result == 0; at = end) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            break;
        if (pid > 0 && is_same_program((pid_t)pid))
            result = cgroup_file_write_number(parent, to, "cgroup.procs", pid);
        if (result < 0 && errno == ESRCH)
            result = 0; /* it has ended meanwhile */
    }
    return result;
}

/* Moves ourselves to a group beside that of the sandboxes, or back. */
static int step_aside(const struct cgroups *cgroups, int parent, bool aside) {
    char name[CGROUP_NAME_MAX + sizeof CGROUP_ENGINE_SUFFIX];
    snprintf(name, sizeof name, "%s" CGROUP_ENGINE_SUFFIX, cgroups->base);
    if (aside && mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
        return -1;
    int result = aside ? move_own(parent, ".", name) : move_own(parent, name, ".");
    int saved = errno;
    if (!aside)
        unlinkat(parent, name, AT_REMOVEDIR);
    errno = saved;
    return result;
}

/* Tries one group of version 2. 0, or -1 with reason. */
static int try_v2(struct cgroups *cgroups, const char *path, bool own, int64_t all_memory) {
    int directory = open_group(AT_FDCWD, path);
    unsigned controllers = directory < 0 ? 0 : listed(directory, ".", "cgroup.controllers");
    if (directory >= 0)
        close(directory);
    if (!(controllers & CGROUP_MEMORY) || !(controllers & CGROUP_PIDS))
        return fail(cgroups, path, "has no controllers for memory and processes");
    if (make_base(cgroups, path, controllers | CGROUP_FREEZER) < 0)
        return -1;
    struct cgroup_hierarchy *made = &cgroups->hierarchies[cgroups->count - 1];
    int result = enable(made->parent_fd, ".", controllers);
    if (result < 0 && errno == EBUSY && own) {
        result = step_aside(cgroups, made->parent_fd, true);
        if (result == 0)
            result = enable(made->parent_fd, ".", controllers);
        if (result < 0) {
            int saved = errno;
            step_aside(cgroups, made->parent_fd, false);
            errno = saved;
        }
    }
    if (result == 0)
        result = enable(made->fd, ".", controllers);
    if (result == 0)
        result = cgroup_file_write_number(made->fd, ".", "memory.max", all_memory);
    if (result == 0) {
        cgroup_file_write_number(made->fd, ".", "cpu.weight",
                                 cgroup_processors() < 100 ? 100 * cgroup_processors() : 10000);
        cgroups->version = &cgroup_v2;
        return 0;
    }
    int saved = errno;
    drop_base(cgroups);
    return saved == EBUSY ? fail(cgroups, path, "has other processes in it")
                          : fail_with(cgroups, path, saved);
}

static void make_v2(struct cgroups *cgroups, const struct cgroup_place *place, int64_t all_memory) {
    char path[PATH_MAX];
    size_t mount = strlen(place->mount);
    memcpy(path, place->path, sizeof path);
    if (try_v2(cgroups, path, true, all_memory) == 0)
        return;
    /* What is said of our own group is what people can change. */
    char reason[sizeof cgroups->reason];
    memcpy(reason, cgroups->reason, sizeof reason);
    while (strlen(path) > mount) {
        *strrchr(path, '/') = '\0';
        if (try_v2(cgroups, path, false, all_memory) == 0)
            return;
    }
    memcpy(cgroups->reason, reason, sizeof reason);
}

int cgroup_base_make(struct cgroups *cgroups, int64_t all_memory) {
    struct cgroup_place *places = calloc(CGROUP_PLACES_MAX, sizeof *places);
    size_t count = places ? cgroup_places_find(places) : 0;
    snprintf(cgroups->reason, sizeof cgroups->reason, "no control groups are mounted here");
    if (cgroup_own_name(cgroups->base) < 0)
        count = 0;
    make_v1(cgroups, places, count, all_memory);
    for (size_t i = 0; i < count && !cgroups->version; i++)
        if (places[i].unified)
            make_v2(cgroups, &places[i], all_memory);
    free(places);
    if (!cgroups->version)
        return -1;
    cgroups->reason[0] = '\0';
    return 0;
}

void cgroup_base_remove(struct cgroups *cgroups) {
    while (cgroups->count)
        drop_base(cgroups);
}
