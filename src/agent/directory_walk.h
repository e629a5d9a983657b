/*
 * directory_walk.h - what is in a directory and below it, in the order of Go's filepath.WalkDir:
 * sorted by bytes, a directory before what it contains.
 */
#ifndef STEPBOX_DIRECTORY_WALK_H
#define STEPBOX_DIRECTORY_WALK_H

#include <stddef.h>

typedef struct directory_walk directory_walk;

typedef enum walk_result {
    WALK_ENTRY,
    WALK_BUSY, /* more names have been read; call again */
    WALK_END,
    WALK_FAILED /* with errno; EOVERFLOW: there is more than was allowed */
} walk_result;

/* Of a directory whose path has no links in it. max: entries in all directories together. NULL with
 * errno. */
directory_walk *directory_walk_open(const char *path, size_t max);
/* Bounded work. */
walk_result directory_walk_next(directory_walk *walk);
/* The path of the entry, or of the directory that failed; the part behind that of the whole walk
 * begins with a slash. */
const char *directory_walk_path(const directory_walk *walk);
const char *directory_walk_below(const directory_walk *walk);
/* 1 in the directory at the top. */
size_t directory_walk_depth(const directory_walk *walk);
/* Goes into the entry, a directory; no link is followed. 0, or -1 with errno. */
int directory_walk_enter(directory_walk *walk);
void directory_walk_free(directory_walk *walk);

#endif
