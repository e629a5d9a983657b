/*
 * walk.h - a walk through a directory and all that is in it, in the order of the names' bytes.
 *
 * No link is followed, no path is looked up twice: each step is relative to an open directory. Two
 * descriptors are open at most, however deep the tree is. The memory is for the names of the
 * directories on the way to the present one.
 */
#ifndef STEPBOX_ARCHIVE_WALK_H
#define STEPBOX_ARCHIVE_WALK_H

#include "stepbox.h"

struct walk;

/* What a walk has come to. */
struct walk_step {
    int parent;       /* descriptor of the directory that it is in */
    const char *name; /* in there */
    const char *path; /* relative to where the walk began */
};

struct walk *walk_new(const char *directory, sb_error *err);

/* The next name: 1, 0 at the end, -1 with err. */
int walk_next(struct walk *walk, struct walk_step *step, sb_error *err);

/* Makes what is in the directory that walk_next() gave last come next. */
int walk_enter(struct walk *walk, int fd, sb_error *err); /* takes fd */

void walk_free(struct walk *walk); /* NULL is allowed */

#endif
