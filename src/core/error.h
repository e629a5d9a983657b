/*
 * error.h - how errors are made. All internal names of the library begin with sbi_; only the sb_
 * functions of stepbox.h are visible outside.
 *
 * An error is made once, where it is noticed, and gets "outer: " put before it on its way up.
 */
#ifndef STEPBOX_CORE_ERROR_H
#define STEPBOX_CORE_ERROR_H

#include "stepbox.h"

/* Fills err (may be NULL) and returns -1. errno is kept. The message is cleaned to printable UTF-8.
 */
int sbi_fail(sb_error *err, sb_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the HTTP status that was received. */
int sbi_fail_status(sb_error *err, sb_code code, int status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* sbi_fail() with SB_SYSTEM for lack of memory. */
int sbi_no_memory(sb_error *err);

/* Puts "outer: " before the message. */
void sbi_error_wrap(sb_error *err, const char *outer);

#endif
