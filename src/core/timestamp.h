/*
 * timestamp.h - the two kinds of time: the monotonic clock for deadlines, and RFC 3339 texts.
 */
#ifndef STEPBOX_CORE_TIMESTAMP_H
#define STEPBOX_CORE_TIMESTAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SBI_NEVER INT64_MAX

/* Nanoseconds of the monotonic clock. */
int64_t sbi_now(void);
/* now + seconds, SBI_NEVER when that is too far (INFINITY included). */
int64_t sbi_deadline(double seconds);
/* Unix seconds of the wall clock. */
double sbi_wall_clock(void);

/* "2026-11-30T08:01:30.198234+00:00" or with Z, as Unix seconds. false when it is something else.
 */
bool sbi_timestamp_parse(const char *text, size_t length, double *seconds);
/* The same, to the nanosecond (what is beyond is cut): 0 <= *nanoseconds < 1e9. */
bool sbi_timestamp_parse_exact(const char *text, size_t length, int64_t *seconds, int *nanoseconds);

#endif
