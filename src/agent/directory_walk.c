/* directory_walk.c - see directory_walk.h */
#include "directory_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_AT_ONCE 256

struct level {
    DIR *directory; /* still being read, or NULL */
    char **names;
    size_t count, capacity, next;
    size_t path_length; /* of the directory's path in the walk's */
};

struct directory_walk {
    size_t found, max; /* names in all directories */
    char path[PATH_MAX];
    size_t top_length;
    struct level *levels;
    size_t level_count, level_capacity;
};

static void free_level(struct level *level) {
    if (level->directory)
        closedir(level->directory);
    for (size_t i = level->next; i < level->count; i++)
        free(level->names[i]);
    free(level->names);
}

static bool grow(void **list, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity)
        return true;
    size_t wanted = *capacity ? *capacity * 2 : 32;
    while (wanted < need)
        wanted *= 2;
    void *grown = realloc(*list, wanted * size);
    if (!grown)
        return false;
    *list = grown;
    *capacity = wanted;
    return true;
}

/* Goes into the directory at the walk's path. */
static int enter(directory_walk *walk, bool is_top) {
    int fd = open(walk->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (is_top ? 0 : O_NOFOLLOW));
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        errno = error;
        return -1;
    }
    if (!grow((void **)&walk->levels, &walk->level_capacity, walk->level_count + 1,
              sizeof *walk->levels)) {
        closedir(directory);
        errno = ENOMEM;
        return -1;
    }
    walk->levels[walk->level_count++] =
        (struct level){.directory = directory, .path_length = strlen(walk->path)};
    return 0;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Below the top a directory that may be opened but not read, as some of processes in /proc, has
 * nothing in it that one could show. */
static bool is_passed_over(const directory_walk *walk, int error) {
    return walk->level_count > 1 && (error == EACCES || error == EPERM || error == ESRCH);
}

/* Reads some of a directory's names; when it has all, they are sorted and the directory closed. */
static int read_names(directory_walk *walk, struct level *level) {
    for (int i = 0; i < NAMES_AT_ONCE; i++) {
        errno = 0;
        struct dirent *entry = readdir(level->directory);
        if (!entry) {
            if (errno && !is_passed_over(walk, errno))
                return -1;
            closedir(level->directory);
            level->directory = NULL;
            if (level->count > 0)
                qsort(level->names, level->count, sizeof *level->names, compare_names);
            return 0;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (++walk->found > walk->max) {
            errno = EOVERFLOW;
            return -1;
        }
        char *name = strdup(entry->d_name);
        if (!name || !grow((void **)&level->names, &level->capacity, level->count + 1,
                           sizeof *level->names)) {
            free(name);
            errno = ENOMEM;
            return -1;
        }
        level->names[level->count++] = name;
    }
    return 0;
}

/* Puts a name behind the path of the innermost directory. */
static bool set_name(directory_walk *walk, const struct level *level, const char *name) {
    size_t length = level->path_length, size = strlen(name);
    if (length == 1)
        length = 0; /* the root's path ends with its slash */
    if (length + 1 + size >= sizeof walk->path)
        return false;
    walk->path[length] = '/';
    memcpy(walk->path + length + 1, name, size + 1);
    return true;
}

walk_result directory_walk_next(directory_walk *walk) {
    if (walk->level_count == 0)
        return WALK_END;
    struct level *level = &walk->levels[walk->level_count - 1];
    if (level->directory)
        return read_names(walk, level) ? WALK_FAILED : WALK_BUSY;
    if (level->next == level->count) {
        free_level(level);
        walk->level_count--;
        return walk->level_count > 0 ? WALK_BUSY : WALK_END;
    }
    char *name = level->names[level->next++];
    bool fits = set_name(walk, level, name);
    free(name);
    if (fits)
        return WALK_ENTRY;
    walk->path[level->path_length] = '\0';
    errno = ENAMETOOLONG;
    return WALK_FAILED;
}

directory_walk *directory_walk_open(const char *path, size_t max) {
    directory_walk *walk = strlen(path) < PATH_MAX ? calloc(1, sizeof *walk) : NULL;
    if (!walk)
        return NULL;
    strcpy(walk->path, path);
    walk->top_length = strcmp(path, "/") == 0 ? 0 : strlen(path);
    walk->max = max;
    if (enter(walk, true) == 0)
        return walk;
    int error = errno;
    directory_walk_free(walk);
    errno = error;
    return NULL;
}

const char *directory_walk_path(const directory_walk *walk) {
    return walk->path;
}

const char *directory_walk_below(const directory_walk *walk) {
    return walk->path + walk->top_length;
}

size_t directory_walk_depth(const directory_walk *walk) {
    return walk->level_count;
}

int directory_walk_enter(directory_walk *walk) {
    return enter(walk, false);
}

void directory_walk_free(directory_walk *walk) {
    while (walk->level_count > 0)
        free_level(&walk->levels[--walk->level_count]);
    free(walk->levels);
    free(walk);
}
