/* step_environment.c - see step_environment.h */
#include "step_environment.h"

#include <stdlib.h>
#include <string.h>

/* The values from before the step by name; null for what was not set. */
static json_t *before;

bool step_environment_set(json_t *variables) {
    const char *name;
    json_t *value;
    before = json_object();
    json_object_foreach(variables, name, value) {
        const char *old = getenv(name);
        /* What the environment holds need not be UTF-8. */
        json_t *kept = old ? json_stringn_nocheck(old, strlen(old)) : json_null();
        if (json_object_set_new_nocheck(before, name, kept) ||
            setenv(name, json_string_value(value), 1)) {
            step_environment_restore();
            return false;
        }
    }
    return true;
}

void step_environment_restore(void) {
    const char *name;
    json_t *value;
    json_object_foreach(before, name, value) {
        if (json_is_string(value))
            setenv(name, json_string_value(value), 1);
        else
            unsetenv(name);
    }
    json_decref(before);
    before = NULL;
}
