/*
 * language_table.h - the languages that steps can be in: their names, and what each needs.
 *
 * The engine tells which of them it has runners for, the agent starts them. Kernels of Jupyter
 * ("jupyter:NAME") are not in the table: see the agent's language_kernels.h.
 */
#ifndef STEPBOX_LANGUAGE_TABLE_H
#define STEPBOX_LANGUAGE_TABLE_H

#include <stddef.h>

#define LANGUAGE_WORDS 8
#define LANGUAGE_NEEDS 4

/* Lists end with NULL. */
struct language {
    const char *name;
    const char *aliases[LANGUAGE_WORDS];
    /* Of the runner, below the directory of runners. */
    const char *folder, *file;
    /* The interpreter: paths that are preferred in this order, since what is on PATH may be a
     * user's own; the last is a name on PATH. */
    const char *programs[LANGUAGE_WORDS];
    const char *options[LANGUAGE_WORDS]; /* before the runner's file */
    /* Begins an option that takes the MiB of the heap, or NULL: what an interpreter chooses by the
     * host's memory is more than the sandbox has. */
    const char *heap_option;
    const char *variant; /* after the channel's descriptor, or NULL */
    /* Patterns as glob(7) has them, alternatives apart by ':'. Of each one must be there. */
    const char *needs[LANGUAGE_NEEDS];
    const char *packages; /* Debian's, that bring interpreter and needs */
};

extern const struct language language_table[];
extern const size_t language_table_size;

#endif
