/*
 * shell_interrupts.h - the supervisor's signal in the shell: back to the top level, at the next
 * safe point.
 *
 * Bash's own SIGINT is the code's to trap, and is handled in other ways while bash waits for a
 * child.
 */
#ifndef STEPBOX_BASH_SHELL_INTERRUPTS_H
#define STEPBOX_BASH_SHELL_INTERRUPTS_H

#include "shared_step.h"

#include <stdbool.h>

/* Between steps: nothing is interrupted, and the handler is in place, whatever the code has done.
 */
void shell_interrupts_reset(struct shared_step *step, pid_t supervisor);
/* Whether the code of the step runs, which alone can be interrupted. */
void shell_interrupts_arm(bool armed);
bool shell_is_interrupted(void);
/* Tells the supervisor what is in the background: not to be interrupted with the step. */
void shell_interrupts_list_background(void);

#endif
