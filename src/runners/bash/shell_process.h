/*
 * shell_process.h - the shell, as the supervisor sees it: a process and the memory shared with it.
 */
#ifndef STEPBOX_BASH_SHELL_PROCESS_H
#define STEPBOX_BASH_SHELL_PROCESS_H

#include "shared_step.h"

#include "descendants.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/wait.h>

struct shell_process {
    pid_t pid;
    struct shared_step *step;
};

/* Starts it, with signals blocked as `mask` says. 0, or -1 with errno. */
int shell_process_start(struct shell_process *shell, const char *bash, const char *library,
                        const sigset_t *mask);

/* Hands it a step. */
void shell_process_run(struct shell_process *shell, const json_t *code, json_t *env);
/* Whether it waits for the next step. */
bool shell_process_has_answered(const struct shell_process *shell);
/* Gives memory back that a large step has used. */
void shell_process_forget(struct shell_process *shell);

/* Interrupts the step that it runs; its processes are another matter. */
void shell_process_interrupt(struct shell_process *shell);
/* Asks what is in its background, and, later, takes the answer: false when none has come. */
void shell_process_look(const struct shell_process *shell);
bool shell_process_background(struct shell_process *shell, struct descendants *background);
/* Its latest answer, also one that was taken: of a step that was interrupted and has ended, this is
 * how it has ended. */
void shell_process_add_background(const struct shell_process *shell,
                                  struct descendants *background);

bool shell_process_has_ended(struct shell_process *shell, int *status);
/* Ends this process by the signal that has killed the shell. */
_Noreturn void shell_process_die_alike(int status);

#endif
