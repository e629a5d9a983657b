/*
 * member.h - one member of an archive, made below a directory.
 */
#ifndef STEPBOX_ARCHIVE_MEMBER_H
#define STEPBOX_ARCHIVE_MEMBER_H

#include "left_open.h"

#include <archive.h>
#include <archive_entry.h>

/* Makes what the entry describes, with the data that follows it in the archive. What has its name
 * already is replaced, but for directories that are not empty. */
int member_make(int root, struct left_open *open, struct archive *archive,
                struct archive_entry *entry, sb_error *err);

#endif
