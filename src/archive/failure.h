/*
 * failure.h - how this library makes errors; the core's own functions are hidden in libstepbox.so.
 */
#ifndef STEPBOX_ARCHIVE_FAILURE_H
#define STEPBOX_ARCHIVE_FAILURE_H

#include "stepbox.h"

#include <archive.h>

/* Fills err (may be NULL) and returns -1. What is not printable ASCII becomes '?'. */
int archive_fail(sb_error *err, sb_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a system call that failed with `number` (errno) at `path`. */
int archive_fail_errno(sb_error *err, int number, const char *path);

/* The same for what libarchive says of `archive`. */
int archive_fail_format(sb_error *err, struct archive *archive);

#endif
