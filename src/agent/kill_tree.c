/* kill_tree.c - ends a program and what it started, also what left its process group and session.
 */
#include "spawn.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* New processes may appear while we look. */
#define ROUNDS_MAX 10
/* No process has this id. */
static const pid_t NOBODY = -1;

struct process {
    pid_t pid, parent, group, session;
    bool doomed;
};

struct processes {
    struct process *list;
    size_t count, capacity;
};

static bool read_process(pid_t pid, struct process *process) {
    char path[40], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    /* The name, in parentheses, may contain anything. */
    char *end = strrchr(text, ')'), state;
    int parent, group, session;
    if (!end || sscanf(end + 1, " %c %d %d %d", &state, &parent, &group, &session) != 4 ||
        state == 'Z' || state == 'X')
        return false;
    *process = (struct process){.pid = pid, .parent = parent, .group = group, .session = session};
    return true;
}

static int compare_ids(const void *left, const void *right) {
    pid_t a = ((const struct process *)left)->pid, b = ((const struct process *)right)->pid;
    return (a > b) - (a < b);
}

/* All processes, by their ids. */
static void list_processes(struct processes *all) {
    DIR *proc = opendir("/proc");
    all->count = 0;
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (*end || pid <= 1 || pid == getpid())
            continue;
        if (all->count == all->capacity) {
            size_t capacity = all->capacity ? all->capacity * 2 : 64;
            struct process *list = realloc(all->list, capacity * sizeof *list);
            if (!list)
                break;
            all->list = list;
            all->capacity = capacity;
        }
        if (read_process((pid_t)pid, &all->list[all->count]))
            all->count++;
    }
    if (proc)
        closedir(proc);
    if (all->count)
        qsort(all->list, all->count, sizeof *all->list, compare_ids);
}

static bool is_doomed(const struct processes *all, pid_t pid) {
    const struct process wanted = {.pid = pid};
    const struct process *found =
        bsearch(&wanted, all->list, all->count, sizeof wanted, compare_ids);
    return found && found->doomed;
}

/* Kills the leader, its group and session, the parent's children, and the descendants of all these.
 * Returns whether there was anything. */
static bool kill_round(struct processes *all, pid_t leader, pid_t parent) {
    bool found = false, more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < all->count; i++) {
            struct process *process = &all->list[i];
            if (process->doomed ||
                (process->pid != leader && process->group != leader && process->session != leader &&
                 process->parent != parent && !is_doomed(all, process->parent)))
                continue;
            process->doomed = more = found = true;
        }
    }
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].doomed)
            kill(all->list[i].pid, SIGKILL);
    }
    return found;
}

static void kill_them(pid_t leader, pid_t parent) {
    struct processes all = {0};
    /* The list is made before anything dies: who has lost its parent cannot be found any more. */
    list_processes(&all);
    for (int round = 0; round < ROUNDS_MAX && kill_round(&all, leader, parent); round++)
        list_processes(&all);
    free(all.list);
}

void spawn_kill_all(pid_t leader) {
    kill_them(leader, NOBODY);
    kill(-leader, SIGKILL); /* where /proc cannot be read */
}

void spawn_kill_children(void) {
    kill_them(NOBODY, getpid());
}
