/*
 * shell_variables.h - environment variables that hold for one step.
 */
#ifndef STEPBOX_BASH_SHELL_VARIABLES_H
#define STEPBOX_BASH_SHELL_VARIABLES_H

#include <stddef.h>

struct step_variables;

/* Sets and exports `count` variables; `at` has a name and a value for each, ended by NUL. NULL,
 * with nothing set and a text in `fault`, when one cannot be set. */
struct step_variables *step_variables_set(char *at, size_t count, char *fault, size_t room);
/* Puts back what was there before, with its attributes. */
void step_variables_restore(struct step_variables *variables);

/* Behind the variables: the code. */
char *step_variables_skip(char *at, size_t count);

#endif
