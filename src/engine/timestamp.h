/*
 * timestamp.h - wall-clock times as RFC 3339 text in UTC, in milliseconds since 1970.
 */
#ifndef STEPBOX_TIMESTAMP_H
#define STEPBOX_TIMESTAMP_H

#include <stdint.h>

#define TIMESTAMP_SIZE 40

int64_t timestamp_now(void);

/* "2026-01-31T12:00:00.000Z" */
void timestamp_format(int64_t ms, char out[TIMESTAMP_SIZE]);

/* Reads RFC 3339: a date, "T" or a space, a time, an optional fraction, and "Z" or an offset. 0, or
 * -1. */
int timestamp_parse(const char *text, int64_t *ms);

#endif
