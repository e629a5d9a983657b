/* step_env.c - see step_env.h */
#include <stdbool.h>

#include "step_env.h"

#include <stdlib.h>

static json_t *before; /* name: value, or null where there was none */

/* A value that is not UTF-8 is put back as it was only by its bytes: they are kept as such. */
static json_t *earlier(const char *name) {
    const char *value = getenv(name);
    return value ? json_string_nocheck(value) : json_null();
}

bool step_env_set(json_t *env) {
    const char *name;
    json_t *value;
    bool fits = true;
    before = json_object();
    json_object_foreach(env, name, value) {
        fits = fits && json_object_set_new_nocheck(before, name, earlier(name)) == 0 &&
               setenv(name, json_string_value(value), 1) == 0;
    }
    if (!fits)
        step_env_restore();
    return fits;
}

void step_env_restore(void) {
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
