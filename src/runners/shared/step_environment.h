/* step_environment.h - the environment variables of one step. */
#ifndef STEPBOX_RUNNER_STEP_ENVIRONMENT_H
#define STEPBOX_RUNNER_STEP_ENVIRONMENT_H

#include <jansson.h>
#include <stdbool.h>

/* Sets them (an object of strings that can be set; NULL: none). False when out of memory. */
bool step_environment_set(json_t *variables);
/* Puts the values from before the step back. */
void step_environment_restore(void);

#endif
