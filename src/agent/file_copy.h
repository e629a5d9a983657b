/*
 * file_copy.h - copies between open files a slice at a time.
 */
#ifndef STEPBOX_FILE_COPY_H
#define STEPBOX_FILE_COPY_H

#include <sys/types.h>

#define FILE_COPY_SLICE ((size_t)4 * 1024 * 1024) /* a few milliseconds' work */

/* Copies up to a slice from where `from` is to where `to` is. Returns how many bytes, 0 at the end,
 * -1 with errno. */
ssize_t file_copy(int from, int to);

#endif
