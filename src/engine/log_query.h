/*
 * log_query.h - which lines of a sandbox's log a request wants.
 *
 * The parameters are foreign: what is not known or does not fit is refused by name.
 */
#ifndef STEPBOX_LOG_QUERY_H
#define STEPBOX_LOG_QUERY_H

#include <stdbool.h>

#include "sandbox_log.h"

#define LOG_QUERY_SEARCH 256

struct log_query {
    int version;
    size_t limit;
    bool has_cursor; /* from that time on, or backward up to it; both with it */
    int64_t cursor;  /* milliseconds since 1970 */
    bool backward;   /* the newest first */
    log_level level; /* the least grave that is wanted */
    char search[LOG_QUERY_SEARCH + 1];
};

/* version: of the API. */
void log_query_init(struct log_query *query, int version);

/* Takes one parameter. 0, or -1 with a message that names it. */
int log_query_set(struct log_query *query, const char *name, const char *value, char *message,
                  size_t room);

/* Calls fn for each entry that is wanted, in the wanted order. */
typedef void log_query_each(const sandbox_log_entry *entry, void *user);
void log_query_select(const struct log_query *query, const struct sandbox_log *log,
                      log_query_each *fn, void *user);

#endif
