/*
 * rfc3339.h - wall-clock times as RFC 3339 text in UTC, in milliseconds since 1970.
 */
#ifndef STEPBOX_RFC3339_H
#define STEPBOX_RFC3339_H

#include <stdint.h>

#define RFC3339_SIZE 40

int64_t rfc3339_now(void);

/* "2026-01-31T12:00:00.000Z" */
void rfc3339_format(int64_t ms, char out[RFC3339_SIZE]);

/* Reads RFC 3339: a date, "T" or a space, a time, an optional fraction, and "Z" or an offset. 0, or
 * -1. */
int rfc3339_parse(const char *text, int64_t *ms);

#endif
