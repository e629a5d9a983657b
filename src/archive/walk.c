#include "walk.h"

#include "failure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory on the way. */
struct level {
    char **names; /* sorted; each allocated */
    size_t count, next;
    size_t path_length; /* of its own path in walk->path, with the slash behind; 0: the root */
    dev_t device;
    ino_t inode;
};

struct walk {
    int root, current; /* descriptors; current is the deepest level's */
    struct level *levels;
    size_t level_count, level_room;
    char *path;
    size_t path_room;
    size_t name_at; /* where the present name begins in path */
};

static void free_level(struct level *level) {
    for (size_t i = 0; i < level->count; i++) {
        free(level->names[i]);
    }
    free(level->names);
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct level *level, size_t *room, const char *name) {
    if (level->count == *room) {
        size_t more = *room == 0 ? 16 : *room * 2;
        char **names = realloc(level->names, more * sizeof *names);
        if (names == NULL) {
            return -1;
        }
        level->names = names;
        *room = more;
    }
    level->names[level->count] = strdup(name);
    return level->names[level->count] != NULL ? (level->count++, 0) : -1;
}

/* 0, or an errno. */
static int read_names(struct level *level, int fd) {
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    if (directory == NULL) {
        int number = errno;
        if (copy >= 0) {
            close(copy);
        }
        return number;
    }
    size_t room = 0;
    int number = 0;
    const struct dirent *entry;
    while (number == 0 && (errno = 0, entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            add_name(level, &room, entry->d_name) != 0) {
            number = ENOMEM;
        }
    }
    if (number == 0) {
        number = errno;
    }
    closedir(directory);
    if (level->count > 0) {
        qsort(level->names, level->count, sizeof *level->names, by_bytes);
    }
    return number;
}

static struct level *new_level(struct walk *walk) {
    if (walk->level_count == walk->level_room) {
        size_t room = walk->level_room == 0 ? 16 : walk->level_room * 2;
        struct level *levels = realloc(walk->levels, room * sizeof *levels);
        if (levels == NULL) {
            return NULL;
        }
        walk->levels = levels;
        walk->level_room = room;
    }
    struct level *level = &walk->levels[walk->level_count];
    *level = (struct level){0};
    return level;
}

/* Goes down into the directory fd, whose path with a slash has this length. 0, or an errno. */
static int push(struct walk *walk, int fd, size_t path_length) {
    struct level *level = new_level(walk);
    struct stat status;
    int number = level == NULL ? ENOMEM : fstat(fd, &status) != 0 ? errno : read_names(level, fd);
    if (number != 0) {
        if (level != NULL) {
            free_level(level);
        }
        close(fd);
        return number;
    }
    level->path_length = path_length;
    level->device = status.st_dev;
    level->inode = status.st_ino;
    walk->level_count++;
    if (walk->current >= 0 && walk->current != walk->root) {
        close(walk->current);
    }
    walk->current = fd;
    return 0;
}

struct walk *walk_new(const char *directory, sb_error *err) {
    struct walk *walk = calloc(1, sizeof *walk);
    if (walk == NULL) {
        archive_fail(err, SB_SYSTEM, "out of memory");
        return NULL;
    }
    walk->current = -1;
    walk->root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int copy = walk->root >= 0 ? fcntl(walk->root, F_DUPFD_CLOEXEC, 3) : -1;
    int number = copy < 0 ? errno : push(walk, copy, 0);
    if (number != 0) {
        archive_fail_errno(err, number, directory);
        walk_free(walk);
        return NULL;
    }
    return walk;
}

/* path = its first `kept` bytes and name. */
static int set_path(struct walk *walk, size_t kept, const char *name) {
    size_t length = strlen(name), needed = kept + length + 2; /* a slash may follow */
    if (needed > walk->path_room) {
        char *path = realloc(walk->path, needed * 2);
        if (path == NULL) {
            return -1;
        }
        walk->path = path;
        walk->path_room = needed * 2;
    }
    memcpy(walk->path + kept, name, length + 1);
    walk->name_at = kept;
    return 0;
}

static bool is_level(int fd, const struct level *level) {
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == level->device &&
           status.st_ino == level->inode;
}

/* Opens a level's directory by its path, from the root, through no link. */
static int open_from_root(struct walk *walk, const struct level *level) {
    int fd = fcntl(walk->root, F_DUPFD_CLOEXEC, 3);
    size_t at = 0;
    while (fd >= 0 && at < level->path_length) {
        char *name = walk->path + at, *slash = strchr(name, '/');
        *slash = '\0';
        int next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        *slash = '/';
        close(fd);
        fd = next;
        at = (size_t)(slash - walk->path) + 1;
    }
    return fd;
}

/* Goes back up from a directory that is done. The tree may have been changed meanwhile: what is
 * above must be the directory that it was. */
static int pop(struct walk *walk, sb_error *err) {
    free_level(&walk->levels[--walk->level_count]);
    if (walk->level_count == 0) {
        return 0;
    }
    const struct level *level = &walk->levels[walk->level_count - 1];
    int fd = openat(walk->current, "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!is_level(fd, level)) {
        if (fd >= 0) {
            close(fd);
        }
        fd = open_from_root(walk, level);
    }
    if (!is_level(fd, level)) {
        if (fd >= 0) {
            close(fd);
        }
        walk->path[level->path_length] = '\0';
        return archive_fail(err, SB_SYSTEM, "%s: the directory was moved while it was read",
                            walk->path[0] != '\0' ? walk->path : ".");
    }
    close(walk->current);
    walk->current = fd;
    return 0;
}

int walk_next(struct walk *walk, struct walk_step *step, sb_error *err) {
    while (walk->level_count > 0) {
        struct level *level = &walk->levels[walk->level_count - 1];
        if (level->next < level->count) {
            const char *name = level->names[level->next++];
            if (set_path(walk, level->path_length, name) != 0) {
                return archive_fail(err, SB_SYSTEM, "out of memory");
            }
            *step = (struct walk_step){walk->current, name, walk->path};
            return 1;
        }
        if (pop(walk, err) != 0) {
            return -1;
        }
    }
    return 0;
}

int walk_enter(struct walk *walk, int fd, sb_error *err) {
    size_t length = strlen(walk->path);
    int number = push(walk, fd, length + 1);
    if (number != 0) {
        return archive_fail_errno(err, number, walk->path);
    }
    walk->path[length] = '/';
    walk->path[length + 1] = '\0';
    return 0;
}

void walk_free(struct walk *walk) {
    if (walk == NULL) {
        return;
    }
    while (walk->level_count > 0) {
        free_level(&walk->levels[--walk->level_count]);
    }
    if (walk->current >= 0) {
        close(walk->current);
    }
    if (walk->root >= 0) {
        close(walk->root);
    }
    free(walk->levels);
    free(walk->path);
    free(walk);
}
