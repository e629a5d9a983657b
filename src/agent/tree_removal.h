/*
 * tree_removal.h - removes a file, or a directory with all that is in it, step by step.
 *
 * Nothing is reached by a path of several components below the one that is given, and no link is
 * followed, so that whoever moves things about meanwhile cannot lead it elsewhere. The directories
 * on the way down stay open, but not those of very deep trees: these are found again by "..", and
 * known again by device and inode.
 */
#ifndef STEPBOX_TREE_REMOVAL_H
#define STEPBOX_TREE_REMOVAL_H

#include <stdbool.h>

typedef struct tree_removal tree_removal;

/* Begins, and ends if it is no directory. NULL with errno: ENOENT when it is not there, EBUSY for a
 * mount point, which could not go and so should not lose its contents either. */
tree_removal *tree_removal_start(const char *path);
bool tree_removal_is_over(const tree_removal *removal);
/* Removes about one entry; not when it is over. 0, or -1 with errno, and nothing more can be
 * removed. ESTALE: a directory has been moved elsewhere meanwhile. */
int tree_removal_step(tree_removal *removal);
void tree_removal_free(tree_removal *removal);

#endif
