/* POST /sandboxes/{id}/snapshots, GET /snapshots, DELETE /templates/{id}: the files of sandboxes,
 * kept. */
#include "control_plane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "create_fields.h"
#include "snapshot_job.h"

#define MAX_LIMIT 100

static bool snapshot_name(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room,
             "must have 1 to %d of a-z, 0-9, \"-\", \"_\" and \".\", and be no template's",
             SNAPSHOT_NAME_MAX);
    return json_is_string(value) && snapshot_name_is_valid(json_string_value(value));
}

static bool without_memory(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room, "must be false or absent: this engine's snapshots have files alone");
    return json_is_false(value);
}

static void on_taken(struct snapshot *snapshot, int status, const char *message, void *user) {
    json_t *body = snapshot ? snapshot_describe(snapshot) : NULL;
    if (body)
        http_reply_json(user, status, body);
    else
        api_error(user, snapshot ? 500 : status, "%s", snapshot ? "out of memory" : message);
}

void op_snapshot(const struct api_call *call) {
    static const struct field_rule rules[] = {FIELD("name", snapshot_name),
                                              FIELD("memory", without_memory), FIELD(NULL, NULL)};
    struct sandbox *sandbox = api_sandbox(call);
    json_t *body = sandbox ? api_body(call, rules, true) : NULL;
    if (!body)
        return;
    char message[256];
    int status = snapshot_take(call->engine, sandbox, json_string_value(fields_get(body, "name")),
                               on_taken, call->request, message, sizeof message);
    json_decref(body);
    if (status != 0)
        api_error(call->request, status, "%s", message);
}

struct query {
    struct engine *engine;
    const char *sandbox_id, *name;
    const struct snapshot *behind; /* the page begins after this one */
    size_t limit;
    char wrong[160];
};

static void read_parameter(const char *parameter, const char *value, void *user) {
    struct query *query = user;
    if (query->wrong[0])
        return;
    if (strcmp(parameter, "sandboxID") == 0) {
        query->sandbox_id = value;
    } else if (strcmp(parameter, "name") == 0) {
        query->name = value;
    } else if (strcmp(parameter, "limit") == 0) {
        char *end;
        long limit = strtol(value, &end, 10);
        query->limit = (size_t)limit;
        if (value[0] < '0' || value[0] > '9' || *end || limit < 1 || limit > MAX_LIMIT)
            snprintf(query->wrong, sizeof query->wrong,
                     "query parameter \"limit\" must be an integer from 1 to %d", MAX_LIMIT);
    } else if (strcmp(parameter, "nextToken") == 0) {
        query->behind = snapshots_find(query->engine->snapshots, value);
        if (!query->behind)
            snprintf(query->wrong, sizeof query->wrong,
                     "query parameter \"nextToken\" is none that a list has returned, or its "
                     "snapshot is deleted");
    } else {
        snprintf(query->wrong, sizeof query->wrong, "unknown query parameter \"%.100s\"",
                 parameter);
    }
}

static bool fits(const struct query *query, const struct snapshot *snapshot) {
    if (query->sandbox_id && strcmp(query->sandbox_id, snapshot->sandbox_id) != 0)
        return false;
    if (!query->name)
        return true;
    size_t length = strlen(snapshot->name);
    return snapshot->named && strncmp(query->name, snapshot->name, length) == 0 &&
           (!query->name[length] || strcmp(query->name + length, SNAPSHOT_TAG) == 0);
}

void op_snapshot_list(const struct api_call *call) {
    struct query query = {.engine = call->engine, .limit = MAX_LIMIT};
    http_request_each_query(call->request, read_parameter, &query);
    json_t *list = query.wrong[0] ? NULL : json_array();
    if (!list) {
        api_error(call->request, query.wrong[0] ? 400 : 500, "%s",
                  query.wrong[0] ? query.wrong : "out of memory");
        return;
    }
    const struct snapshot *last = NULL, *at = snapshots_first(call->engine->snapshots);
    if (query.behind)
        at = query.behind->next;
    for (; at; at = at->next) {
        if (!fits(&query, at))
            continue;
        if (json_array_size(list) == query.limit) {
            http_reply_header(call->request, "x-next-token", last->name);
            break;
        }
        json_array_append_new(list, snapshot_describe(at));
        last = at;
    }
    http_reply_json(call->request, 200, list);
}

void op_snapshot_delete(const struct api_call *call) {
    struct snapshot *snapshot = snapshots_find(call->engine->snapshots, call->id);
    if (snapshot) {
        snapshots_remove(call->engine->snapshots, snapshot);
        api_done(call->request);
    } else if (template_alias(call->id)) {
        api_error(call->request, 400, "template \"%s\" is a part of this engine", call->id);
    } else {
        api_error(call->request, 404, "there is no snapshot \"%s\"", call->id);
    }
}
