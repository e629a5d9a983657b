/*
 * step_env.h - environment variables that hold for one step.
 */
#ifndef STEPBOX_LUA_STEP_ENV_H
#define STEPBOX_LUA_STEP_ENV_H

#include <jansson.h>

/* Sets them; what was there before is kept for step_env_restore(). False, with nothing set, when
 * memory is short. */
bool step_env_set(json_t *env);
void step_env_restore(void);

#endif
