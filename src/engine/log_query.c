#include "log_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIMIT 1000

void log_query_init(struct log_query *query, int version) {
    *query = (struct log_query){
        .version = version, .limit = MAX_LIMIT, .backward = version == 2, .level = LOG_LEVEL_DEBUG};
}

static int wrong(char *message, size_t room, const char *name, const char *why) {
    snprintf(message, room, "query parameter \"%s\" %s", name, why);
    return -1;
}

/* A number of at most 15 digits. -1 when it is none. */
static int64_t number_of(const char *value) {
    size_t length = strlen(value);
    if (length == 0 || length > 15 || strspn(value, "0123456789") != length)
        return -1;
    return strtoll(value, NULL, 10);
}

static int set_limit(struct log_query *query, const char *value) {
    int64_t limit = number_of(value);
    if (limit < 0 || (query->version == 2 && limit > MAX_LIMIT))
        return -1;
    query->limit = (size_t)limit;
    return 0;
}

static int set_cursor(struct log_query *query, const char *value) {
    query->cursor = number_of(value);
    query->has_cursor = true;
    return query->cursor < 0 ? -1 : 0;
}

int log_query_set(struct log_query *query, const char *name, const char *value, char *message,
                  size_t room) {
    bool second = query->version == 2;
    if (strcmp(name, "limit") == 0)
        return set_limit(query, value) == 0 ? 0
                                            : wrong(message, room, name,
                                                    second ? "must be an integer from 0 to 1000"
                                                           : "must be an integer of at least 0");
    if (strcmp(name, second ? "cursor" : "start") == 0)
        return set_cursor(query, value) == 0
                   ? 0
                   : wrong(message, room, name, "must be a time in milliseconds since 1970");
    if (second && strcmp(name, "direction") == 0) {
        query->backward = strcmp(value, "backward") == 0;
        return query->backward || strcmp(value, "forward") == 0
                   ? 0
                   : wrong(message, room, name, "must be forward or backward");
    }
    if (second && strcmp(name, "level") == 0)
        return log_level_parse(value, &query->level) == 0
                   ? 0
                   : wrong(message, room, name, "must be debug, info, warn or error");
    if (second && strcmp(name, "search") == 0) {
        if (strlen(value) > LOG_QUERY_SEARCH)
            return wrong(message, room, name, "must not be longer than 256 bytes");
        strcpy(query->search, value);
        return 0;
    }
    snprintf(message, room, "unknown query parameter \"%.100s\"", name);
    return -1;
}

static bool fits(const struct log_query *query, const sandbox_log_entry *entry) {
    if (query->has_cursor &&
        (query->backward ? entry->at > query->cursor : entry->at < query->cursor))
        return false;
    return entry->level <= query->level && strstr(entry->message, query->search) != NULL;
}

void log_query_select(const struct log_query *query, const struct sandbox_log *log,
                      log_query_each *fn, void *user) {
    size_t left = query->limit;
    for (size_t i = 0; i < log->count && left > 0; i++) {
        const sandbox_log_entry *entry =
            sandbox_log_at(log, query->backward ? log->count - 1 - i : i);
        if (!fits(query, entry))
            continue;
        fn(entry, user);
        left--;
    }
}
