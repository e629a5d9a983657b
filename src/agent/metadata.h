/*
 * metadata.h - the user's own data about a file: names and values of printable ASCII, kept as
 * extended attributes "user.e2b.NAME". A set is a JSON object of strings.
 */
#ifndef STEPBOX_METADATA_H
#define STEPBOX_METADATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define METADATA_KEY_MAX 246    /* bytes; the kernel takes names of 255 */
#define METADATA_TOTAL_MAX 4096 /* bytes of names with their prefix, and of values */

/* Writes what is wrong with a set to text, and returns it; NULL when nothing is. */
const char *metadata_fault(json_t *metadata, char *text, size_t size);

/* Whether the file system of an open file or directory keeps metadata. */
bool metadata_supported(int fd);
/* What to answer when it does not. */
#define METADATA_UNSUPPORTED "the file system there does not keep metadata"

/* Replaces what an open file had by the set, which NULL or an empty one clears. 0, or -1 with
 * errno. Clearing succeeds where no metadata is kept. */
int metadata_write(int fd, const json_t *metadata);
/* A new reference; NULL when there is none or it cannot be read. What is not UTF-8 is left out. */
json_t *metadata_read(const char *path);

#endif
