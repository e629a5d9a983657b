/*
 * stepbox_contexts.h - contexts: interpreters in one sandbox that share nothing but its files, each
 * in its language and with a state of its own. A part of stepbox.h, which includes it.
 */
#ifndef STEPBOX_CONTEXTS_H
#define STEPBOX_CONTEXTS_H

#include "stepbox.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sb_context_options {
    const char *language; /* NULL: Python */
    const char *cwd;      /* NULL: the home directory */
    /* For all that its code does. The local engine alone keeps them with the context: others end
     * with SB_UNSUPPORTED, and take them with each step. */
    const sb_pair *envs;
    size_t env_count;
} sb_context_options;

typedef struct sb_context {
    const char *id;             /* for sb_step_options.context */
    const char *language, *cwd; /* NULL when the server does not say */
} sb_context;

/* Makes a context; then sb_op_context(op, 0). SB_UNSUPPORTED when the sandbox does not have the
 * language: the message says what is missing. */
SB_API sb_op *sb_box_new_context(sb_box *box, const sb_context_options *options, sb_error *err);

/* All contexts, the default ones of languages too once a step has used them, the oldest first. */
SB_API sb_op *sb_box_contexts(sb_box *box, sb_error *err);
SB_API size_t sb_op_context_count(const sb_op *op);
SB_API const sb_context *sb_op_context(const sb_op *op, size_t index);

/* Each ends with SB_NOT_FOUND when there is no such context (any more). */
/* Its state is gone and its running step ends; its directory and variables stay. */
SB_API sb_op *sb_box_restart_context(sb_box *box, const char *id, sb_error *err);
SB_API sb_op *sb_box_remove_context(sb_box *box, const char *id, sb_error *err);
/* Interrupts the code that runs in a context (NULL: the default one), keeping its state.
 * sb_op_flag(): true when something was running. SB_UNSUPPORTED where the server has no such call.
 */
SB_API sb_op *sb_box_interrupt(sb_box *box, const char *id, sb_error *err);

/* A language that steps and contexts can be in. */
typedef struct sb_language {
    const char *name;
    const char *const *aliases;
    size_t alias_count;
    bool available;
    const char *message; /* why it is not available, and what to do; NULL: nothing to say */
} sb_language;

/* What the sandbox can run, and what it could. SB_UNSUPPORTED on servers that do not tell. */
SB_API sb_op *sb_box_languages(sb_box *box, sb_error *err);
SB_API size_t sb_op_language_count(const sb_op *op);
SB_API const sb_language *sb_op_language(const sb_op *op, size_t index);

#ifdef __cplusplus
}
#endif

#endif
