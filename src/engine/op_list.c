/* GET /sandboxes, GET /v2/sandboxes */
#include "control_plane.h"

#include <stdio.h>
#include <stdlib.h>

#include "sandbox_list.h"

struct reading {
    struct list_query query;
    bool failed;
    char message[256];
};

static void read_parameter(const char *name, const char *value, void *user) {
    struct reading *reading = user;
    if (!reading->failed)
        reading->failed = list_query_set(&reading->query, name, value, reading->message,
                                         sizeof reading->message) < 0;
}

static void set_headers(http_request *request, const struct list_query *query,
                        const struct list_page *page) {
    char total[32];
    snprintf(total, sizeof total, "%zu", page->running);
    if (query->running || !query->paused)
        http_reply_header(request, "x-total-running", total);
    if (page->next_token[0])
        http_reply_header(request, "x-next-token", page->next_token);
}

static void answer(const struct api_call *call, const struct list_query *query) {
    size_t count;
    const struct sandbox_record **records = sandboxes_records(call->engine->sandboxes, &count);
    json_t *list = records || count == 0 ? json_array() : NULL;
    if (!list) {
        free(records);
        api_error(call->request, 500, "out of memory");
        return;
    }
    struct list_page page;
    list_select(query, records, count, &page);
    for (size_t i = page.first; i < page.first + page.count; i++)
        json_array_append_new(list, sandbox_record_listed(records[i]));
    free(records);
    if (call->version == 2)
        set_headers(call->request, query, &page);
    http_reply_json(call->request, 200, list);
}

void op_list(const struct api_call *call) {
    struct reading reading = {0};
    list_query_init(&reading.query, call->version);
    http_request_each_query(call->request, read_parameter, &reading);
    if (reading.failed)
        api_error(call->request, 400, "%s", reading.message);
    else
        answer(call, &reading.query);
    list_query_free(&reading.query);
}
