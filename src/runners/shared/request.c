/* request.c - see request.h */
#include "request.h"

#include <stdio.h>
#include <string.h>

static bool is_env(json_t *env) {
    const char *name;
    json_t *value;
    if (!json_is_object(env))
        return false;
    json_object_foreach(env, name, value) {
        if (!json_is_string(value))
            return false;
    }
    return true;
}

struct request request_read(const char *line, size_t length) {
    json_error_t error;
    struct request request = {.message = json_loadb(line, length, JSON_ALLOW_NUL, &error)};
    if (!request.message && json_error_code(&error) == json_error_null_byte_in_key) {
        request.type = REQUEST_RUN;
        request.name_with_nul = true;
        return request;
    }
    const char *type = json_string_value(json_object_get(request.message, "type"));
    if (!type)
        return request;
    if (strcmp(type, "drained") == 0) {
        request.type = REQUEST_DRAINED;
    } else if (strcmp(type, "run") == 0) {
        request.code = json_object_get(request.message, "code");
        request.env = json_object_get(request.message, "env");
        if (json_is_string(request.code) && (!request.env || is_env(request.env)))
            request.type = REQUEST_RUN;
    }
    return request;
}

void request_free(struct request *request) {
    json_decref(request->message);
    *request = (struct request){0};
}

const char *request_env_fault(const struct request *request, char fault[REQUEST_FAULT_MAX]) {
    const char *name;
    json_t *value;
    if (request->name_with_nul)
        return "the name of an environment variable has a NUL character in it";
    json_object_foreach(request->env, name, value) {
        if (!*name)
            return "the name of an environment variable is empty";
        if (strchr(name, '=')) {
            snprintf(fault, REQUEST_FAULT_MAX,
                     "the name of an environment variable has '=' in it: %.100s", name);
            return fault;
        }
        if (strlen(json_string_value(value)) != json_string_length(value)) {
            snprintf(fault, REQUEST_FAULT_MAX,
                     "the value of the environment variable %.100s has a NUL character in it",
                     name);
            return fault;
        }
    }
    return NULL;
}
