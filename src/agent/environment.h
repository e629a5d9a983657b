/*
 * environment.h - environment variables as JSON objects of strings, and as what exec takes.
 */
#ifndef STEPBOX_ENVIRONMENT_H
#define STEPBOX_ENVIRONMENT_H

#include <jansson.h>
#include <stdbool.h>

/* Why a variable cannot be one: its name is empty or contains '=', or its value, a string, contains
 * NUL. NULL when it can. */
const char *environment_fault(const char *name, const json_t *value);

/* A copy of both objects (either may be NULL) in one, the second's values before the first's. NULL
 * when out of memory. */
json_t *environment_merge(const json_t *global, const json_t *extra);

/* The agent's own environment, overridden by `global`, overridden by `extra` (either may be NULL),
 * in one allocation to be freed. NULL when out of memory. */
char **environment_make(const json_t *global, const json_t *extra);

#endif
