/* process_request.c - see process_request.h */
#include "process_request.h"

#include "environment.h"
#include "path.h"
#include "pty.h"

#include <stdlib.h>
#include <string.h>

/* Digits of a timeout, as the Connect protocol bounds it: 115 days. */
#define TIMEOUT_DIGITS_MAX 10

static bool invalid(process_fault *fault, const char *message) {
    return process_fault_set(fault, "invalid_argument", "%s", message);
}

/* The text of an optional member; NULL when it is absent or null. */
static bool text_of(const json_t *object, const char *name, const char **text,
                    process_fault *fault) {
    const json_t *value = json_object_get(object, name);
    *text = json_string_value(value);
    if (!value || json_is_null(value) || (*text && strlen(*text) == json_string_length(value)))
        return true;
    return process_fault_set(fault, "invalid_argument", "%s must be a string without NUL", name);
}

static bool read_arguments(process_request *parsed, const json_t *process, process_fault *fault) {
    const json_t *args = json_object_get(process, "args");
    const char *command;
    if (!text_of(process, "cmd", &command, fault))
        return false;
    if (!command || !*command)
        return invalid(fault, "process.cmd is missing");
    if (args && !json_is_array(args) && !json_is_null(args))
        return invalid(fault, "process.args must be a list of strings");
    size_t count = json_array_size(args);
    parsed->argv = calloc(count + 2, sizeof *parsed->argv);
    if (!parsed->argv)
        return process_fault_set(fault, "resource_exhausted", "out of memory");
    parsed->argv[0] = (char *)command;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(args, i);
        parsed->argv[i + 1] = (char *)json_string_value(value);
        if (!json_is_string(value) || strlen(parsed->argv[i + 1]) != json_string_length(value))
            return invalid(fault, "process.args must be strings without NUL");
    }
    return true;
}

static bool read_envs(process_request *parsed, const json_t *process, process_fault *fault) {
    json_t *envs = json_object_get(process, "envs"), *value;
    const char *name, *why;
    if (!envs || json_is_null(envs))
        return true;
    if (!json_is_object(envs))
        return invalid(fault, "process.envs must be an object of strings");
    json_object_foreach(envs, name, value) {
        if (!json_is_string(value))
            return invalid(fault, "process.envs must be an object of strings");
        if ((why = environment_fault(name, value)))
            return invalid(fault, why);
    }
    parsed->envs = envs;
    return true;
}

static bool read_directory(const struct agent *agent, process_request *parsed,
                           const json_t *process, process_fault *fault) {
    const char *why;
    if (!text_of(process, "cwd", &parsed->cwd, fault))
        return false;
    if (parsed->cwd && !*parsed->cwd)
        parsed->cwd = NULL;
    const char *path = parsed->cwd ? parsed->cwd : "";
    parsed->directory = path_resolve(agent, path, strlen(path), &why);
    return parsed->directory ||
           process_fault_set(fault, "invalid_argument", "process.cwd: %s", why);
}

bool process_request_number(const json_t *value, json_int_t max, json_int_t *number) {
    const char *text = json_string_value(value);
    *number = json_integer_value(value);
    if (text) {
        size_t length = strlen(text);
        if (length == 0 || length > 18 || strspn(text, "0123456789") != json_string_length(value))
            return false;
        *number = strtoll(text, NULL, 10);
    } else if (json_is_real(value)) {
        double real = json_real_value(value);
        if (!(real >= 0.0 && real <= (double)max) || real != (double)(json_int_t)real)
            return false;
        *number = (json_int_t)real;
    } else if (value && !json_is_integer(value) && !json_is_null(value)) {
        return false;
    }
    return *number >= 0 && *number <= max;
}

bool process_request_size(const json_t *pty, unsigned *cols, unsigned *rows, process_fault *fault) {
    const json_t *size = json_object_get(pty, "size");
    json_int_t columns, lines;
    if (!json_is_object(pty) || (size && !json_is_object(size) && !json_is_null(size)))
        return invalid(fault, "pty must be an object with a size");
    if (!process_request_number(json_object_get(size, "cols"), PTY_SIZE_MAX, &columns) ||
        !process_request_number(json_object_get(size, "rows"), PTY_SIZE_MAX, &lines))
        return invalid(fault, "pty.size must have cols and rows between 1 and 65535");
    *cols = columns ? (unsigned)columns : PTY_COLS_DEFAULT;
    *rows = lines ? (unsigned)lines : PTY_ROWS_DEFAULT;
    return true;
}

bool process_request_timeout(const http_request *request, double *seconds, process_fault *fault) {
    const char *text = http_request_header(request, "Connect-Timeout-Ms");
    size_t digits = text ? strspn(text, "0123456789") : 0;
    *seconds = text ? strtod(text, NULL) / 1000.0 : 0.0;
    if (!text || (digits > 0 && digits <= TIMEOUT_DIGITS_MAX && !text[digits]))
        return true;
    *seconds = 0.0;
    return invalid(fault, "Connect-Timeout-Ms must be a number of milliseconds");
}

bool process_request_read(const struct agent *agent, const http_request *request, json_t *message,
                          process_request *parsed, process_fault *fault) {
    const json_t *process = json_object_get(message, "process");
    const json_t *pty = json_object_get(message, "pty"), *input = json_object_get(message, "stdin");
    *parsed = (process_request){.message = message, .user = privileges_acting()};
    if (process && !json_is_object(process))
        return invalid(fault, "process must be an object");
    if (!read_arguments(parsed, process, fault) || !read_envs(parsed, process, fault) ||
        !read_directory(agent, parsed, process, fault) ||
        !text_of(message, "tag", &parsed->tag, fault) ||
        !process_request_timeout(request, &parsed->timeout, fault))
        return false;
    if (parsed->tag && strlen(parsed->tag) > PROCESS_TAG_MAX)
        return invalid(fault, "tag is too long");
    if (input && !json_is_boolean(input) && !json_is_null(input))
        return invalid(fault, "stdin must be true or false");
    /* Without a word about it stdin is open: so is E2B's protocol. */
    parsed->stdin_open = !json_is_false(input);
    parsed->terminal = pty && !json_is_null(pty);
    return !parsed->terminal || process_request_size(pty, &parsed->cols, &parsed->rows, fault);
}

void process_request_free(process_request *parsed) {
    json_decref(parsed->message);
    free(parsed->argv);
    free(parsed->directory);
    *parsed = (process_request){0};
}
