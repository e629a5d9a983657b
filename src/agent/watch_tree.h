/*
 * watch_tree.h - the directories of a watch, found by their inotify descriptors.
 */
#ifndef STEPBOX_WATCH_TREE_H
#define STEPBOX_WATCH_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct watch_node {
    int wd;
    char *name; /* "" at the root */
    struct watch_node *parent, *first, *next, *previous;
    struct watch_node *chain;     /* of the same bucket */
    struct watch_node *scan_next; /* that will be read after it */
    bool report;                  /* what is found in it then is new */
    bool moved;                   /* away from its parent, to where is not known yet */
    dev_t device;
    /* Names that were reported when the directory was read, and whose own events may still come
     * before that place in the sequence of events. A JSON object used as a set, or NULL. */
    json_t *seen;
    uint64_t seen_until;
} watch_node;

typedef struct watch_tree {
    watch_node *root;
    watch_node **buckets;
    size_t bucket_count, count;
} watch_tree;

/* A node that is in the tree then; parent is NULL for the root. NULL when out of memory. */
watch_node *watch_tree_add(watch_tree *tree, watch_node *parent, const char *name, int wd);
watch_node *watch_tree_find(const watch_tree *tree, int wd);
watch_node *watch_tree_child(const watch_node *parent, const char *name);
/* Gives a node another place. False when out of memory or when that is below itself. */
bool watch_tree_move(watch_node *node, watch_node *parent, const char *name);
/* Removes a node and all below it; removed() is told each descriptor. */
void watch_tree_remove(watch_tree *tree, watch_node *node, void (*removed)(int wd, void *user),
                       void *user);
void watch_tree_free(watch_tree *tree);

/* Writes the path of a name in a node's directory ("": of the directory itself) relative to the
 * root's, "." for that. False when it is too long. */
bool watch_tree_path(const watch_node *node, const char *name, char *path, size_t size);

#endif
