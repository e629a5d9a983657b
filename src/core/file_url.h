/*
 * file_url.h - where a file's content is read and written: "/files?path=...".
 */
#ifndef STEPBOX_CORE_FILE_URL_H
#define STEPBOX_CORE_FILE_URL_H

#include "address.h"
#include "buffer.h"

/* Appends "/files?path=PATH&username=USER". user NULL: the default one. */
sb_code sbi_file_query(struct sbi_buffer *out, const struct sbi_address *address, const char *path,
                       const char *user);

#endif
