/* kill_tree.c - ends a program and what it started, also what left its process group and session.
 */
#include "spawn.h"

#include "process_list.h"

#include <signal.h>
#include <unistd.h>

/* New processes may appear while we look. */
#define ROUNDS_MAX 10
/* No process has this id. */
static const pid_t NOBODY = -1;

static bool is_doomed(const struct process_list *all, pid_t pid) {
    const struct listed_process *found = process_list_find(all, pid);
    return found && found->marked;
}

/* Kills the leader, its group and session, the parent's children, and the descendants of all these.
 * Returns whether there was anything. */
static bool kill_round(struct process_list *all, pid_t leader, pid_t parent) {
    bool found = false, more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < all->count; i++) {
            struct listed_process *process = &all->items[i];
            if (process->marked ||
                (process->pid != leader && process->group != leader && process->session != leader &&
                 process->parent != parent && !is_doomed(all, process->parent)))
                continue;
            process->marked = more = found = true;
        }
    }
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i].marked)
            kill(all->items[i].pid, SIGKILL);
    }
    return found;
}

static void kill_them(pid_t leader, pid_t parent) {
    struct process_list all = {0};
    /* The list is made before anything dies: who has lost its parent cannot be found any more. */
    process_list_read(&all);
    for (int round = 0; round < ROUNDS_MAX && kill_round(&all, leader, parent); round++)
        process_list_read(&all);
    process_list_free(&all);
}

void spawn_kill_all(pid_t leader) {
    kill_them(leader, NOBODY);
    kill(-leader, SIGKILL); /* where /proc cannot be read */
}

void spawn_kill_children(void) {
    kill_them(NOBODY, getpid());
}
