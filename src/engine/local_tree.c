#include "local_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* As deep as .../lib/python3.11/dist-packages and share/man/man1. */
#define MAX_DEPTH 3
#define MAX_DIRECTORIES 512

static int depth_of(const char *path) {
    int depth = 1;
    for (; (path = strchr(path, '/')); path++)
        depth++;
    return depth;
}

static int add(struct local_tree *tree, const char *path) {
    if (tree->count == MAX_DIRECTORIES)
        return -1;
    char **paths = realloc(tree->paths, (tree->count + 1) * sizeof *paths);
    char *copy = paths ? strdup(path) : NULL;
    if (paths)
        tree->paths = paths;
    if (!copy)
        return -1;
    tree->paths[tree->count++] = copy;
    return 0;
}

/* Adds the directories in one; "" is the root itself. */
static void read_one(struct local_tree *tree, const char *root, const char *path) {
    char full[PATH_MAX], child[PATH_MAX];
    struct dirent *entry;
    if (snprintf(full, sizeof full, "%s/%s", root, path) >= (int)sizeof full)
        return;
    DIR *directory = opendir(full);
    while (directory && (entry = readdir(directory))) {
        struct stat st;
        if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) ||
            snprintf(child, sizeof child, "%s%s%s", path, *path ? "/" : "", entry->d_name) >=
                (int)sizeof child ||
            fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISDIR(st.st_mode) || (st.st_mode & (S_IROTH | S_IXOTH)) != (S_IROTH | S_IXOTH))
            continue;
        if (add(tree, child) < 0)
            break;
    }
    if (directory)
        closedir(directory);
}

void local_tree_read(struct local_tree *tree, const char *root) {
    *tree = (struct local_tree){0};
    read_one(tree, root, "");
    /* The list grows while it is gone through: those nearest to the root come first. */
    for (size_t i = 0; i < tree->count; i++)
        if (depth_of(tree->paths[i]) < MAX_DEPTH)
            read_one(tree, root, tree->paths[i]);
}

void local_tree_free(struct local_tree *tree) {
    for (size_t i = 0; i < tree->count; i++)
        free(tree->paths[i]);
    free(tree->paths);
    *tree = (struct local_tree){0};
}
