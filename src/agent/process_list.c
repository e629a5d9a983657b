/* process_list.c - see process_list.h */
#include "process_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_process(pid_t pid, struct listed_process *process) {
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
    *process = (struct listed_process){
        .pid = pid, .parent = parent, .group = group, .session = session, .state = state};
    return true;
}

static int compare_ids(const void *left, const void *right) {
    pid_t a = ((const struct listed_process *)left)->pid;
    pid_t b = ((const struct listed_process *)right)->pid;
    return (a > b) - (a < b);
}

void process_list_read(struct process_list *list) {
    DIR *proc = opendir("/proc");
    list->count = 0;
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (*end || pid <= 1 || pid == getpid())
            continue;
        if (list->count == list->capacity) {
            size_t capacity = list->capacity ? list->capacity * 2 : 64;
            struct listed_process *items = realloc(list->items, capacity * sizeof *items);
            if (!items)
                break;
            list->items = items;
            list->capacity = capacity;
        }
        if (read_process((pid_t)pid, &list->items[list->count]))
            list->count++;
    }
    if (proc)
        closedir(proc);
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_ids);
}

void process_list_free(struct process_list *list) {
    free(list->items);
    *list = (struct process_list){0};
}

struct listed_process *process_list_find(const struct process_list *list, pid_t pid) {
    const struct listed_process wanted = {.pid = pid};
    return list->count ? bsearch(&wanted, list->items, list->count, sizeof wanted, compare_ids)
                       : NULL;
}
