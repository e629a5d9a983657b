/* GET /sandboxes/{id}/logs, GET /v2/sandboxes/{id}/logs: what happened to a sandbox, and what its
 * agent said. */
#include "control_plane.h"

#include "log_query.h"
#include "rfc3339.h"

struct reading {
    struct log_query query;
    bool failed;
    char message[256];
};

static void read_parameter(const char *name, const char *value, void *user) {
    struct reading *reading = user;
    if (!reading->failed)
        reading->failed = log_query_set(&reading->query, name, value, reading->message,
                                        sizeof reading->message) < 0;
}

struct answer {
    json_t *entries; /* of both versions */
    json_t *lines;   /* of the first */
};

static void add_entry(const sandbox_log_entry *entry, void *user) {
    static const char *const levels[] = {"error", "warn", "info", "debug"};
    struct answer *answer = user;
    char at[RFC3339_SIZE];
    rfc3339_format(entry->at, at);
    json_array_append_new(answer->entries,
                          json_pack("{s:s, s:s, s:s, s:{s:s}}", "timestamp", at, "message",
                                    entry->message, "level", levels[entry->level], "fields",
                                    "source", entry->source));
    json_array_append_new(answer->lines,
                          json_pack("{s:s, s:s}", "timestamp", at, "line", entry->message));
}

void op_logs(const struct api_call *call) {
    struct reading reading = {0};
    log_query_init(&reading.query, call->version);
    http_request_each_query(call->request, read_parameter, &reading);
    if (reading.failed) {
        api_error(call->request, 400, "%s", reading.message);
        return;
    }
    struct sandbox *sandbox = api_sandbox(call);
    if (!sandbox)
        return;
    struct answer answer = {json_array(), json_array()};
    log_query_select(&reading.query, sandbox_log_of(sandbox), add_entry, &answer);
    json_t *body = call->version == 2 ? json_pack("{s:O}", "logs", answer.entries)
                                      : json_pack("{s:O, s:O}", "logs", answer.lines, "logEntries",
                                                  answer.entries);
    json_decref(answer.entries);
    json_decref(answer.lines);
    if (body)
        http_reply_json(call->request, 200, body);
    else
        api_error(call->request, 500, "out of memory");
}
