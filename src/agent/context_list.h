/*
 * context_list.h - the contexts of a sandbox, in the order of their making: those that were asked
 * for, and the default one of each language.
 */
#ifndef STEPBOX_CONTEXT_LIST_H
#define STEPBOX_CONTEXT_LIST_H

#include "context.h"

/* The id of the default context of the default language. */
#define CONTEXT_DEFAULT_ID "default"

struct context_list;

/* settings must outlive it. NULL when out of memory. */
struct context_list *context_list_new(const struct context_settings *settings);
/* Frees the contexts too. */
void context_list_free(struct context_list *list);

/* Whether there are as many as there may be. */
bool context_list_is_full(const struct context_list *list);
/* A new one, its runner being started; envs (or NULL) are copied. NULL when out of memory. */
struct context *context_list_add(struct context_list *list, const struct language *language,
                                 const char *cwd, const json_t *envs);
/* The default one of the language, made when there is none. NULL when out of memory. */
struct context *context_list_default(struct context_list *list, const struct language *language);
/* NULL when there is none such. */
struct context *context_list_find(struct context_list *list, const char *id);
/* Frees it, if there is one. */
bool context_list_remove(struct context_list *list, const char *id);
/* [{id, language, cwd}] */
json_t *context_list_describe(const struct context_list *list);
json_t *context_describe(const struct context *context);

#endif
