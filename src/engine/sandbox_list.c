#include "sandbox_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rfc3339.h"

#define MAX_LIMIT 100

void list_query_init(struct list_query *query, int version) {
    /* The first generation has no pages: everything is one. */
    *query = (struct list_query){.version = version, .limit = version == 1 ? SIZE_MAX : MAX_LIMIT};
    query->running = version == 1;
}

void list_query_free(struct list_query *query) {
    json_decref(query->metadata);
    query->metadata = NULL;
}

static int wrong(char *message, size_t room, const char *name, const char *why) {
    snprintf(message, room, "query parameter \"%s\" %s", name, why);
    return -1;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX and + in place. 0, or -1 when it is malformed or has a NUL. */
static int url_decode(char *text) {
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (*in == '%') {
            int high = hex_digit(in[1]), low = high < 0 ? -1 : hex_digit(in[2]);
            if (low < 0 || (high == 0 && low == 0))
                return -1;
            *out++ = (char)(high << 4 | low);
            in += 2;
        } else {
            *out++ = *in == '+' ? ' ' : *in;
        }
    }
    *out = '\0';
    return 0;
}

/* "user=abc&app=prod". Clients of this API encode names and values, and then the whole once more.
 */
static int set_metadata(struct list_query *query, const char *value) {
    char *text = strdup(value), *rest = text, *pair;
    json_t *metadata = json_object();
    int result = text && metadata && url_decode(text) == 0 ? 0 : -1;
    while (result == 0 && (pair = strsep(&rest, "&"))) {
        char *equals = strchr(pair, '=');
        if (!equals || equals == pair) {
            result = -1;
            break;
        }
        *equals = '\0';
        if (url_decode(pair) < 0 || url_decode(equals + 1) < 0 ||
            json_object_set_new(metadata, pair, json_string(equals + 1)) < 0)
            result = -1;
    }
    free(text);
    if (result == 0) {
        json_decref(query->metadata);
        query->metadata = metadata;
    } else {
        json_decref(metadata);
    }
    return result;
}

/* "running,paused" */
static int set_states(struct list_query *query, const char *value) {
    for (;;) {
        size_t length = strcspn(value, ",");
        if (length == 7 && memcmp(value, "running", 7) == 0)
            query->running = true;
        else if (length == 6 && memcmp(value, "paused", 6) == 0)
            query->paused = true;
        else
            return -1;
        if (!value[length])
            return 0;
        value += length + 1;
    }
}

static int set_limit(struct list_query *query, const char *value) {
    char *end;
    long limit = strtol(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || limit < 1 || limit > MAX_LIMIT)
        return -1;
    query->limit = (size_t)limit;
    return 0;
}

static void make_token(const struct sandbox_record *record, char token[LIST_TOKEN_SIZE]) {
    snprintf(token, LIST_TOKEN_SIZE, "%lld-%s", (long long)record->started_at, record->id);
}

static int set_token(struct list_query *query, const char *value) {
    char *end;
    long long started_at = strtoll(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end != '-' || end - value > 18)
        return -1;
    const char *id = end + 1;
    if (strlen(id) != SANDBOX_ID_LENGTH ||
        strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789") != SANDBOX_ID_LENGTH)
        return -1;
    query->has_cursor = true;
    query->cursor_started_at = started_at;
    strcpy(query->cursor_id, id);
    return 0;
}

int list_query_set(struct list_query *query, const char *name, const char *value, char *message,
                   size_t room) {
    if (strcmp(name, "metadata") == 0)
        return set_metadata(query, value) == 0
                   ? 0
                   : wrong(message, room, name,
                           "must be name=value pairs joined by &, each URL-encoded");
    if (query->version == 1) {
        snprintf(message, room, "unknown query parameter \"%.100s\"", name);
        return -1;
    }
    if (strcmp(name, "state") == 0)
        return set_states(query, value) == 0
                   ? 0
                   : wrong(message, room, name, "must be running, paused or both");
    if (strcmp(name, "limit") == 0)
        return set_limit(query, value) == 0
                   ? 0
                   : wrong(message, room, name, "must be an integer from 1 to 100");
    if (strcmp(name, "nextToken") == 0)
        return set_token(query, value) == 0
                   ? 0
                   : wrong(message, room, name, "is none that a list has returned");
    if (strcmp(name, "order") == 0) {
        query->ascending = strcmp(value, "asc") == 0;
        return query->ascending || strcmp(value, "desc") == 0
                   ? 0
                   : wrong(message, room, name, "must be asc or desc");
    }
    if (strcmp(name, "startedAfter") == 0) {
        query->has_started_after = true;
        return rfc3339_parse(value, &query->started_after) == 0
                   ? 0
                   : wrong(message, room, name, "must be a time like 2026-01-31T12:00:00Z");
    }
    if (strcmp(name, "template") == 0) {
        if (!*value || strlen(value) >= TEMPLATE_ID_MAX)
            return wrong(message, room, name, "must be the id or alias of a template");
        strcpy(query->template_id, value);
        return 0;
    }
    snprintf(message, room, "unknown query parameter \"%.100s\"", name);
    return -1;
}

static bool has_metadata(const struct sandbox_record *record, json_t *wanted) {
    const char *name;
    json_t *value;
    json_object_foreach(
        wanted, name,
        value) if (!json_equal(json_object_get(record->metadata, name), value)) return false;
    return true;
}

static bool fits(const struct list_query *query, const struct sandbox_record *record) {
    if (query->paused != query->running && query->paused != record->paused)
        return false;
    if (query->has_started_after && record->started_at < query->started_after)
        return false;
    if (query->template_id[0] && strcmp(query->template_id, record->template_id) != 0 &&
        strcmp(query->template_id, record->alias) != 0)
        return false;
    return !query->metadata || has_metadata(record, query->metadata);
}

/* Oldest first; the id decides between those of the same millisecond, so that pages never overlap.
 */
static int compare(int64_t started_at, const char *id, const struct sandbox_record *other) {
    if (started_at != other->started_at)
        return started_at < other->started_at ? -1 : 1;
    return strcmp(id, other->id);
}

static int ascending(const void *a, const void *b) {
    const struct sandbox_record *const *left = a, *const *right = b;
    return compare((*left)->started_at, (*left)->id, *right);
}

static int descending(const void *a, const void *b) {
    return ascending(b, a);
}

/* Whether a record comes behind the one where the page before ended. */
static bool is_behind_cursor(const struct list_query *query, const struct sandbox_record *record) {
    int order = compare(query->cursor_started_at, query->cursor_id, record);
    return query->ascending ? order < 0 : order > 0;
}

void list_select(const struct list_query *query, const struct sandbox_record **records,
                 size_t count, struct list_page *page) {
    *page = (struct list_page){0};
    for (size_t i = 0; i < count; i++)
        if (fits(query, records[i])) {
            page->running += !records[i]->paused;
            records[page->total++] = records[i];
        }
    if (page->total == 0)
        return;
    qsort(records, page->total, sizeof *records, query->ascending ? ascending : descending);
    while (query->has_cursor && page->first < page->total &&
           !is_behind_cursor(query, records[page->first]))
        page->first++;
    size_t left = page->total - page->first;
    page->count = left < query->limit ? left : query->limit;
    if (page->count < left)
        make_token(records[page->first + page->count - 1], page->next_token);
}
