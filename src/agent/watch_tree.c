/* watch_tree.c - see watch_tree.h */
#include "watch_tree.h"

#include <stdlib.h>
#include <string.h>

static size_t bucket_of(const watch_tree *tree, int wd) {
    return (size_t)wd % tree->bucket_count;
}

static bool grow(watch_tree *tree) {
    if (tree->count < tree->bucket_count)
        return true;
    size_t count = tree->bucket_count ? tree->bucket_count * 2 : 16;
    watch_node **buckets = calloc(count, sizeof *buckets);
    if (!buckets)
        return tree->bucket_count > 0;
    watch_tree old = *tree;
    tree->buckets = buckets;
    tree->bucket_count = count;
    for (size_t i = 0; i < old.bucket_count; i++) {
        for (watch_node *node = old.buckets[i], *chain; node; node = chain) {
            watch_node **bucket = &buckets[bucket_of(tree, node->wd)];
            chain = node->chain;
            node->chain = *bucket;
            *bucket = node;
        }
    }
    free(old.buckets);
    return true;
}

static void attach(watch_node *node, watch_node *parent) {
    node->parent = parent;
    node->previous = NULL;
    node->next = parent ? parent->first : NULL;
    if (node->next)
        node->next->previous = node;
    if (parent)
        parent->first = node;
}

static void detach(watch_node *node) {
    if (node->previous)
        node->previous->next = node->next;
    else if (node->parent)
        node->parent->first = node->next;
    if (node->next)
        node->next->previous = node->previous;
}

watch_node *watch_tree_add(watch_tree *tree, watch_node *parent, const char *name, int wd) {
    watch_node *node = grow(tree) ? calloc(1, sizeof *node) : NULL;
    if (!node || !(node->name = strdup(name))) {
        free(node);
        return NULL;
    }
    node->wd = wd;
    attach(node, parent);
    watch_node **bucket = &tree->buckets[bucket_of(tree, wd)];
    node->chain = *bucket;
    *bucket = node;
    if (!parent)
        tree->root = node;
    tree->count++;
    return node;
}

watch_node *watch_tree_find(const watch_tree *tree, int wd) {
    if (wd < 0 || tree->bucket_count == 0)
        return NULL;
    watch_node *node = tree->buckets[bucket_of(tree, wd)];
    while (node && node->wd != wd)
        node = node->chain;
    return node;
}

watch_node *watch_tree_child(const watch_node *parent, const char *name) {
    watch_node *node = parent->first;
    while (node && strcmp(node->name, name) != 0)
        node = node->next;
    return node;
}

bool watch_tree_move(watch_node *node, watch_node *parent, const char *name) {
    for (const watch_node *up = parent; up; up = up->parent) {
        if (up == node)
            return false;
    }
    char *copy = strdup(name);
    if (!copy)
        return false;
    free(node->name);
    node->name = copy;
    detach(node);
    attach(node, parent);
    return true;
}

static void drop(watch_tree *tree, watch_node *node) {
    watch_node **at = &tree->buckets[bucket_of(tree, node->wd)];
    while (*at != node)
        at = &(*at)->chain;
    *at = node->chain;
    detach(node);
    if (tree->root == node)
        tree->root = NULL;
    tree->count--;
    json_decref(node->seen);
    free(node->name);
    free(node);
}

void watch_tree_remove(watch_tree *tree, watch_node *node, void (*removed)(int wd, void *user),
                       void *user) {
    for (watch_node *at = node;;) {
        while (at->first)
            at = at->first;
        watch_node *parent = at->parent;
        bool last = at == node;
        if (removed)
            removed(at->wd, user);
        drop(tree, at);
        if (last)
            return;
        at = parent;
    }
}

void watch_tree_free(watch_tree *tree) {
    if (tree->root)
        watch_tree_remove(tree, tree->root, NULL, NULL);
    free(tree->buckets);
    *tree = (watch_tree){0};
}

bool watch_tree_path(const watch_node *node, const char *name, char *path, size_t size) {
    size_t length = strlen(name), at;
    for (const watch_node *up = node; up->parent; up = up->parent)
        length += strlen(up->name) + 1;
    if (length + 2 > size)
        return false;
    /* Backwards, as the nodes lead up. */
    at = length;
    path[at] = '\0';
    at -= strlen(name);
    memcpy(path + at, name, strlen(name));
    for (const watch_node *up = node; up->parent; up = up->parent) {
        path[--at] = '/';
        at -= strlen(up->name);
        memcpy(path + at, up->name, strlen(up->name));
    }
    if (length > 0 && path[length - 1] == '/')
        path[length - 1] = '\0';
    if (length == 0)
        strcpy(path, ".");
    return true;
}
