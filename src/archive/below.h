/*
 * below.h - names from a stream that may be hostile, and how they are opened below a directory
 * without ever leaving it: component by component, through no link.
 */
#ifndef STEPBOX_ARCHIVE_BELOW_H
#define STEPBOX_ARCHIVE_BELOW_H

#include "stepbox.h"

/* Bytes of a path in an archive. */
#define BELOW_MAX_PATH (32u * 1024)

/* A path's components with one slash between, without "." and empty ones; "" is the directory
 * itself. A string to free(), or NULL with err: an absolute path, one with "..", too long a one. */
char *below_clean(const char *path, sb_error *err);

/* Opens the directory that the first `length` bytes of a clean path name. With `make`, those that
 * are missing are made. A descriptor, or -1 with err (SB_BAD_PATH when a link is on the way). */
int below_open(int root, const char *clean, size_t length, bool make, sb_error *err);

/* Opens the directory that the path's last component is in, and sets *name to that component. */
int below_open_parent(int root, const char *clean, bool make, const char **name, sb_error *err);

/* Whether the clean path `outer` is `inner`'s directory, or one further up. */
bool below_is_above(const char *outer, size_t outer_length, const char *inner);

#endif
