/*
 * entry_info.h - what is known of a file: the protocol's EntryInfo as JSON.
 */
#ifndef STEPBOX_ENTRY_INFO_H
#define STEPBOX_ENTRY_INFO_H

#include <jansson.h>

/* A new reference; NULL with errno. Of a symbolic link type, mode and metadata are those of what it
 * leads to, and symlinkTarget is the whole path of that; a link that leads nowhere has the type
 * FILE_TYPE_SYMLINK and its own text. */
json_t *entry_info(const char *path);
/* The same, with another path shown: where a link to `path` has been followed. */
json_t *entry_info_as(const char *path, const char *shown);

#endif
