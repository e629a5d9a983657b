/*
 * local_tree.h - the directories of the host's /usr/local.
 *
 * What is below /usr comes from packages and is public, but for what administrators put into
 * /usr/local. So the files there stay the host's in a sandbox, also for its root; only the
 * directories, as far as everybody may read them, are made anew as root's own, so that it can put
 * files into them.
 */
#ifndef STEPBOX_LOCAL_TREE_H
#define STEPBOX_LOCAL_TREE_H

#include <stddef.h>

#define LOCAL_TREE "/usr/local"

struct local_tree {
    char **paths; /* relative to it, each behind those that it is in */
    size_t count;
};

/* Reads those that are not deep; what cannot be read, or is too much, is left out. */
void local_tree_read(struct local_tree *tree, const char *root);
void local_tree_free(struct local_tree *tree);

#endif
