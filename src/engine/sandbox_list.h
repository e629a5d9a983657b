/*
 * sandbox_list.h - which sandboxes a list shows: filters, order, pages.
 */
#ifndef STEPBOX_SANDBOX_LIST_H
#define STEPBOX_SANDBOX_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox_record.h"

/* A page's place: behind this sandbox. */
#define LIST_TOKEN_SIZE (24 + SANDBOX_ID_LENGTH + 1)

struct list_query {
    int version;          /* of the API; 1 knows only metadata, and has no pages */
    json_t *metadata;     /* all of these must be equal; or NULL */
    bool running, paused; /* wanted states; neither: both */
    bool ascending;       /* by start time; else newest first */
    size_t limit;
    bool has_started_after;
    int64_t started_after;             /* milliseconds since 1970 */
    char template_id[TEMPLATE_ID_MAX]; /* or alias; "": any */
    bool has_cursor;
    int64_t cursor_started_at;
    char cursor_id[SANDBOX_ID_LENGTH + 1];
};

void list_query_init(struct list_query *query, int version);
void list_query_free(struct list_query *query);

/* Takes one parameter of the URL. 0, or -1 with a message that names it. */
int list_query_set(struct list_query *query, const char *name, const char *value, char *message,
                   size_t room);

/* Orders the records that fit to the front of the array, and finds the page in them. */
struct list_page {
    size_t total;   /* records that fit, on all pages */
    size_t running; /* of these */
    size_t first, count;
    char next_token[LIST_TOKEN_SIZE]; /* "" on the last page */
};
void list_select(const struct list_query *query, const struct sandbox_record **records,
                 size_t count, struct list_page *page);

#endif
