/* language_service.c - see language_service.h */
#include "language_service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT "text/plain; charset=utf-8"

/* In the form of the official server, whose message is Jupyter's. */
static void reply_fault(http_request *request, int status, const char *name, const char *message) {
    char short_message[LANGUAGE_NAME_MAX + 20];
    snprintf(short_message, sizeof short_message, "%s not found", name);
    json_t *why = json_pack("{s:s, s:s}", "message", message, "short_message", short_message);
    char *why_text = why ? json_dumps(why, 0) : NULL;
    char text[2 * LANGUAGE_FAULT_MAX + 200];
    snprintf(text, sizeof text, "Failed to create context: %s", why_text ? why_text : "{}");
    http_reply(request, status, TEXT, text, strlen(text));
    free(why_text);
    json_decref(why);
}

static const struct language *find(struct language_kernels *kernels, const char *runners,
                                   const char *normal) {
    if (strncmp(normal, LANGUAGE_KERNEL_PREFIX, strlen(LANGUAGE_KERNEL_PREFIX)) != 0)
        return language_find(normal, runners);
    const struct language *kernel = language_kernels_find(kernels, normal);
    return kernel && language_has_runner(kernel, runners) ? kernel : NULL;
}

const struct language *language_of_request(struct language_kernels *kernels, const char *runners,
                                           const char *name, http_request *request) {
    char normal[LANGUAGE_NAME_MAX], message[LANGUAGE_FAULT_MAX];
    language_normalize(name, normal);
    const struct language *language = find(kernels, runners, normal);
    if (!language) {
        snprintf(message, sizeof message,
                 "The '%s' kernel is not available. Please pick another suitable kernel instead, "
                 "or install that kernel.",
                 normal);
        reply_fault(request, 400, normal, message);
        return NULL;
    }
    if (!language_is_installed(language, message)) {
        reply_fault(request, 501, normal, message);
        return NULL;
    }
    return language;
}

static json_t *describe(const struct language *language) {
    char fault[LANGUAGE_FAULT_MAX];
    json_t *aliases = json_array();
    for (size_t i = 0; i < LANGUAGE_WORDS && language->aliases[i]; i++) {
        if (*language->aliases[i])
            json_array_append_new(aliases, json_string(language->aliases[i]));
    }
    bool available = language_is_installed(language, fault);
    json_t *described = json_pack("{s:s, s:o, s:b}", "name", language->name, "aliases", aliases,
                                  "available", available);
    if (!available)
        json_object_set_new(described, "message", json_string(fault));
    return described;
}

static void add_kernel(const struct language *kernel, void *user) {
    json_t *array = user, *other;
    size_t i;
    json_array_foreach(array, i, other) {
        const char *name = json_string_value(json_object_get(other, "name"));
        if (name && strcmp(name, kernel->name) == 0)
            return; /* the user's own hides the system's */
    }
    json_array_append_new(array, describe(kernel));
}

json_t *language_list(struct language_kernels *kernels, const char *runners) {
    json_t *array = json_array();
    for (size_t i = 0; i < language_table_size; i++) {
        if (language_has_runner(&language_table[i], runners))
            json_array_append_new(array, describe(&language_table[i]));
    }
    language_kernels_each(kernels, add_kernel, array);
    return array;
}
