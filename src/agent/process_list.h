/*
 * process_list.h - the processes that /proc shows, but process 1 and this one.
 */
#ifndef STEPBOX_PROCESS_LIST_H
#define STEPBOX_PROCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct listed_process {
    pid_t pid, parent, group, session;
    char state;  /* as proc(5) has it; never Z or X: those have ended */
    bool marked; /* the caller's */
};

struct process_list {
    struct listed_process *items; /* by pid, ascending */
    size_t count, capacity;
};

/* Fills a zeroed list, or one that was filled before. It may miss processes that begin meanwhile,
 * and all behind the first for which there is no memory. */
void process_list_read(struct process_list *list);
void process_list_free(struct process_list *list);

/* NULL when it is not in the list. */
struct listed_process *process_list_find(const struct process_list *list, pid_t pid);

#endif
