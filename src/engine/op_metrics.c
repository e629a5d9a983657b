/* GET /sandboxes/{id}/metrics, GET /sandboxes/metrics: what sandboxes take of their host. */
#include "control_plane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_IDS 100

struct period {
    int64_t start, end; /* Unix seconds */
    char message[256];  /* what is wrong with it; "" */
};

static void read_period(const char *name, const char *value, void *user) {
    struct period *period = user;
    bool is_start = strcmp(name, "start") == 0;
    size_t length = strlen(value);
    if (period->message[0])
        return;
    if (!is_start && strcmp(name, "end") != 0)
        snprintf(period->message, sizeof period->message, "unknown query parameter \"%.100s\"",
                 name);
    else if (length == 0 || length > 15 || strspn(value, "0123456789") != length)
        snprintf(period->message, sizeof period->message,
                 "query parameter \"%s\" must be a time in seconds since 1970", name);
    else
        *(is_start ? &period->start : &period->end) = strtoll(value, NULL, 10);
}

void op_metrics(const struct api_call *call) {
    struct period period = {.end = INT64_MAX};
    http_request_each_query(call->request, read_period, &period);
    if (!period.message[0] && period.start > period.end)
        snprintf(period.message, sizeof period.message,
                 "query parameter \"end\" must not be before \"start\"");
    if (period.message[0]) {
        api_error(call->request, 400, "%s", period.message);
        return;
    }
    struct sandbox *sandbox = api_sandbox(call);
    if (sandbox)
        http_reply_json(call->request, 200,
                        sandbox_metrics_list(sandbox, period.start, period.end));
}

struct selection {
    struct sandboxes *set;
    json_t *found; /* by id */
    bool given;
    char message[256];
};

/* "sandbox_ids=A,B": those that do not run are left out, as E2B has it. */
static void read_ids(const char *name, const char *value, void *user) {
    struct selection *selection = user;
    char id[ROUTE_ID_MAX];
    int count = 0;
    if (strcmp(name, "sandbox_ids") != 0) {
        snprintf(selection->message, sizeof selection->message,
                 "unknown query parameter \"%.100s\"", name);
        return;
    }
    selection->given = true;
    while (*value) {
        size_t length = strcspn(value, ",");
        if (++count > MOST_IDS) {
            snprintf(selection->message, sizeof selection->message,
                     "query parameter \"sandbox_ids\" must not have more than %d ids", MOST_IDS);
            return;
        }
        snprintf(id, sizeof id, "%.*s", (int)(length < sizeof id ? length : sizeof id - 1), value);
        struct sandbox *sandbox = length < sizeof id ? sandboxes_find(selection->set, id) : NULL;
        if (sandbox && !json_object_get(selection->found, id))
            json_object_set_new(selection->found, id, sandbox_metrics_now(sandbox));
        value += length + (value[length] == ',');
    }
}

void op_metrics_of_many(const struct api_call *call) {
    struct selection selection = {.set = call->engine->sandboxes, .found = json_object()};
    http_request_each_query(call->request, read_ids, &selection);
    if (!selection.given && !selection.message[0])
        snprintf(selection.message, sizeof selection.message,
                 "query parameter \"sandbox_ids\" is missing");
    if (selection.message[0]) {
        json_decref(selection.found);
        api_error(call->request, 400, "%s", selection.message);
        return;
    }
    http_reply_json(call->request, 200, json_pack("{s:o}", "sandboxes", selection.found));
}
