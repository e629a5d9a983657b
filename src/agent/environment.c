/* environment.c - see environment.h */
#include "environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *environment_fault(const char *name, const json_t *value) {
    if (!*name)
        return "an environment variable needs a name";
    if (strchr(name, '='))
        return "an environment variable's name cannot contain '='";
    if (strlen(json_string_value(value)) != json_string_length(value))
        return "an environment variable's value cannot contain NUL";
    return NULL;
}

json_t *environment_merge(const json_t *global, const json_t *extra) {
    json_t *all = json_object();
    if ((global && json_object_update(all, (json_t *)global)) ||
        (extra && json_object_update(all, (json_t *)extra))) {
        json_decref(all);
        return NULL;
    }
    return all;
}

static bool is_overridden(const char *entry, json_t *by) {
    const char *equals = strchr(entry, '=');
    char name[256];
    size_t length = equals ? (size_t)(equals - entry) : 0;
    if (length == 0 || length >= sizeof name)
        return false;
    memcpy(name, entry, length);
    name[length] = '\0';
    return json_object_get(by, name) != NULL;
}

char **environment_make(const json_t *global, const json_t *extra) {
    json_t *own = environment_merge(global, extra), *value;
    const char *name;
    if (!own)
        return NULL;
    size_t inherited = 0, text = 0;
    while (environ[inherited])
        inherited++;
    json_object_foreach(own, name, value) text += strlen(name) + json_string_length(value) + 2;
    size_t pointers = (inherited + json_object_size(own) + 1) * sizeof(char *);
    char **made = malloc(pointers + text);
    if (made) {
        size_t count = 0;
        char *to = (char *)made + pointers;
        for (size_t i = 0; i < inherited; i++) {
            if (!is_overridden(environ[i], own))
                made[count++] = environ[i];
        }
        json_object_foreach(own, name, value) {
            made[count++] = to;
            to = stpcpy(to, name);
            *to++ = '=';
            to = stpcpy(to, json_string_value(value)) + 1;
        }
        made[count] = NULL;
    }
    json_decref(own);
    return made;
}
