/* context_list.c - see context_list.h */
#include "context_list.h"

#include <stdlib.h>
#include <string.h>

/* Contexts need no token: somebody could make them for ever. */
#define CONTEXTS_MAX 1000
#define DEFAULT_LANGUAGE "python"

struct entry {
    struct entry *next;
    struct context *context;
    bool is_default; /* of its language */
};

struct context_list {
    const struct context_settings *settings;
    struct entry *first;
};

struct context_list *context_list_new(const struct context_settings *settings) {
    struct context_list *list = calloc(1, sizeof *list);
    if (list)
        list->settings = settings;
    return list;
}

void context_list_free(struct context_list *list) {
    for (struct entry *entry = list ? list->first : NULL, *next; entry; entry = next) {
        next = entry->next;
        context_free(entry->context);
        free(entry);
    }
    free(list);
}

bool context_list_is_full(const struct context_list *list) {
    size_t count = 0;
    for (struct entry *entry = list->first; entry; entry = entry->next)
        count++;
    return count >= CONTEXTS_MAX;
}

static struct context *add(struct context_list *list, const struct language *language,
                           const char *cwd, const json_t *envs, bool is_default) {
    struct entry *entry = malloc(sizeof *entry);
    struct context *context = entry ? context_new(list->settings, language, cwd, envs) : NULL;
    if (!context) {
        free(entry);
        return NULL;
    }
    *entry = (struct entry){.context = context, .is_default = is_default};
    struct entry **at = &list->first;
    while (*at)
        at = &(*at)->next;
    *at = entry;
    return context;
}

struct context *context_list_add(struct context_list *list, const struct language *language,
                                 const char *cwd, const json_t *envs) {
    return add(list, language, cwd, envs, false);
}

struct context *context_list_default(struct context_list *list, const struct language *language) {
    for (struct entry *entry = list->first; entry; entry = entry->next) {
        if (entry->is_default && context_language(entry->context) == language)
            return entry->context;
    }
    return add(list, language, list->settings->home, NULL, true);
}

static bool has_id(const struct entry *entry, const char *id) {
    if (strcmp(context_id(entry->context), id) == 0)
        return true;
    return entry->is_default && strcmp(id, CONTEXT_DEFAULT_ID) == 0 &&
           strcmp(context_language(entry->context)->name, DEFAULT_LANGUAGE) == 0;
}

/* Where the pointer to the entry is; NULL when there is none. */
static struct entry **find(struct context_list *list, const char *id) {
    for (struct entry **at = &list->first; *at; at = &(*at)->next) {
        if (has_id(*at, id))
            return at;
    }
    return NULL;
}

struct context *context_list_find(struct context_list *list, const char *id) {
    struct entry **at = find(list, id);
    return at ? (*at)->context : NULL;
}

bool context_list_remove(struct context_list *list, const char *id) {
    struct entry **at = find(list, id);
    if (!at)
        return false;
    struct entry *entry = *at;
    *at = entry->next;
    context_free(entry->context);
    free(entry);
    return true;
}

json_t *context_describe(const struct context *context) {
    return json_pack("{s:s, s:s, s:s}", "id", context_id(context), "language",
                     context_language(context)->name, "cwd", context_cwd(context));
}

json_t *context_list_describe(const struct context_list *list) {
    json_t *array = json_array();
    for (struct entry *entry = list->first; entry; entry = entry->next)
        json_array_append_new(array, context_describe(entry->context));
    return array;
}
