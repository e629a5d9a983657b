/*
 * sandbox_log.h - what happened to a sandbox, and what its agent said: the newest lines, in bounded
 * memory.
 */
#ifndef STEPBOX_SANDBOX_LOG_H
#define STEPBOX_SANDBOX_LOG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "log.h"

/* Entries kept, and bytes of one message; what is longer is cut. */
#define SANDBOX_LOG_ENTRIES 512
#define SANDBOX_LOG_MESSAGE 512

typedef struct sandbox_log_entry {
    int64_t at; /* wall clock, milliseconds since 1970; never less than the entry's before */
    log_level level;
    const char *source; /* static: "engine" or "agent" */
    char *message;      /* UTF-8 */
} sandbox_log_entry;

/* Zeroed it is empty. */
struct sandbox_log {
    sandbox_log_entry *entries; /* a ring, NULL before the first */
    size_t first, count;
    char line[SANDBOX_LOG_MESSAGE]; /* of the agent's words: what is not a whole line yet */
    size_t line_used;
    int line_is_cut; /* its rest is dropped up to the next newline */
};

/* Out of memory drops the entry: a log must not be why a sandbox fails. */
void sandbox_log_add(struct sandbox_log *log, log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Bytes of the agent's standard error, in any pieces. */
void sandbox_log_said(struct sandbox_log *log, const char *bytes, size_t length);

/* The oldest is 0. */
const sandbox_log_entry *sandbox_log_at(const struct sandbox_log *log, size_t index);

void sandbox_log_free(struct sandbox_log *log);

#endif
