/*
 * builtin.h - what a library must have to be loaded by bash's `enable -f`.
 *
 * The form has been the same since bash 2; bash's own headers are in few systems' packages.
 */
#ifndef STEPBOX_BASH_BUILTIN_H
#define STEPBOX_BASH_BUILTIN_H

struct bash_word {
    char *text;
    int flags;
};

struct bash_words {
    struct bash_words *next;
    struct bash_word *word;
};

struct bash_builtin {
    const char *name;
    int (*function)(struct bash_words *arguments);
    int flags;
    const char *const *long_doc;
    const char *short_doc;
    char *handle;
};

#define BASH_BUILTIN_ENABLED 1
/* Everything else is hidden: bash's own functions would be called in place of ours of the same
 * name. */
#define BASH_FINDS __attribute__((visibility("default")))

#endif
