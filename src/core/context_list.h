/*
 * context_list.h - what a sandbox tells of its contexts and of its languages, read.
 */
#ifndef STEPBOX_CORE_CONTEXT_LIST_H
#define STEPBOX_CORE_CONTEXT_LIST_H

#include "stepbox.h"

#include <jansson.h>

/* The strings of both point into the answer, which is kept. */
struct sbi_contexts {
    json_t *root;
    sb_context *contexts;
    size_t count;
};

struct sbi_languages {
    json_t *root;
    sb_language *languages;
    size_t count;
};

/* Each reads an answer, one object or a list of them, and takes the reference to root (also when it
 * fails). -1 with SB_PROTOCOL, or SB_SYSTEM without memory. */
int sbi_contexts_read(struct sbi_contexts *contexts, json_t *root, sb_error *err);
void sbi_contexts_free(struct sbi_contexts *contexts);

/* A list. */
int sbi_languages_read(struct sbi_languages *languages, json_t *root, sb_error *err);
void sbi_languages_free(struct sbi_languages *languages);

#endif
