/*
 * file_entry.h - what a server says of files: EntryInfo of the protocol's filesystem service, in
 * the JSON of proto3, and the lesser form that uploads answer.
 */
#ifndef STEPBOX_CORE_FILE_ENTRY_H
#define STEPBOX_CORE_FILE_ENTRY_H

#include "stepbox.h"

#include <jansson.h>

struct sbi_entries {
    json_t *root; /* the entries' strings are in it */
    sb_entry *entries;
    size_t count;
};

/* Takes the reference to root: an object, or an array of such (NULL: an empty one). NULL with
 * SB_PROTOCOL when something in it is not what it should be. */
struct sbi_entries *sbi_entries_new(json_t *root, sb_error *err);
void sbi_entries_free(struct sbi_entries *entries); /* NULL is allowed */

/* One entry, whose strings live in `object`. 0, or -1 with err; then nothing is to be released. */
int sbi_entry_fill(sb_entry *entry, const json_t *object, sb_error *err);
void sbi_entry_release(sb_entry *entry);

#endif
