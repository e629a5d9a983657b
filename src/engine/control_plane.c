#include "control_plane.h"

#include <string.h>

#include "api_key.h"

static const struct api_route {
    const char *method;
    const char *path; /* * stands for the id of a sandbox */
    int version;
    api_operation *operation;
} routes[] = {
    {"GET", "/health", 1, op_health},
    {"POST", "/sandboxes", 1, op_create},
    {"GET", "/sandboxes", 1, op_list},
    {"GET", "/sandboxes/metrics", 1, op_metrics_of_many},
    {"GET", "/sandboxes/*", 1, op_get},
    {"GET", "/sandboxes/*/metrics", 1, op_metrics},
    {"GET", "/sandboxes/*/logs", 1, op_logs},
    {"DELETE", "/sandboxes/*", 1, op_delete},
    {"POST", "/sandboxes/*/timeout", 1, op_timeout},
    {"PUT", "/sandboxes/*/network", 1, op_network},
    {"POST", "/sandboxes/*/refreshes", 1, op_refresh},
    {"POST", "/sandboxes/*/connect", 1, op_connect},
    {"POST", "/sandboxes/*/pause", 1, op_pause},
    {"POST", "/sandboxes/*/resume", 1, op_resume},
    {"POST", "/sandboxes/*/snapshots", 1, op_snapshot},
    {"GET", "/snapshots", 1, op_snapshot_list},
    {"DELETE", "/templates/*", 1, op_snapshot_delete},
    {"PUT", "/sandboxes/*/lease", 1, op_lease_take},
    {"DELETE", "/sandboxes/*/lease", 1, op_lease_release},
    {"POST", "/v2/sandboxes", 2, op_create},
    {"GET", "/v2/sandboxes", 2, op_list},
    {"POST", "/v2/sandboxes/*/connect", 2, op_connect},
    {"GET", "/v2/sandboxes/*/logs", 2, op_logs},
    {"GET", "/engine", 1, op_engine},
    {"DELETE", "/engine", 1, op_engine_stop},
};

#define ROUTE_COUNT (sizeof routes / sizeof *routes)

/* Whether path fits the pattern; copies what the star stands for, cut to what no id is longer than.
 */
static bool matches(const char *pattern, const char *path, char id[ROUTE_ID_MAX]) {
    id[0] = '\0';
    while (*pattern) {
        if (*pattern == '*') {
            size_t length = strcspn(path, "/");
            if (length == 0)
                return false;
            size_t kept = length < ROUTE_ID_MAX ? length : ROUTE_ID_MAX - 1;
            memcpy(id, path, kept);
            id[kept] = '\0';
            path += length;
            pattern++;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

/* On TCP a key is needed, except to ask for health. Answers when it is wrong. */
static void authorize(const struct api_call *call, const char *path) {
    if (call->transport == TRANSPORT_UNIX || strcmp(path, "/health") == 0)
        return;
    const char *given = http_request_header(call->request, "X-API-Key");
    if (api_key_is(call->engine->options->api_key, given, given ? strlen(given) : 0))
        return;
    http_reply_to_stranger(call->request);
    api_error(call->request, 401, "%s", api_key_complaint(given));
}

/* The path is there with other methods, or not at all. */
static void answer_unknown(http_request *request, const char *method, const char *path) {
    char allow[64] = "", id[ROUTE_ID_MAX];
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (!matches(routes[i].path, path, id))
            continue;
        if (allow[0])
            strcat(allow, ", ");
        strcat(allow, routes[i].method);
    }
    if (!allow[0]) {
        api_error(request, 404, "there is no operation %s %s", method, path);
        return;
    }
    http_reply_header(request, "Allow", allow);
    api_error(request, 405, "%s is not allowed on %s", method, path);
}

/* Who may not ask is told so before the body comes: nothing of a stranger's is kept. */
void control_plane_head(http_request *request, void *user) {
    struct engine *engine = user;
    struct api_call call = {.engine = engine, .request = request};
    if (!gateway_transport(engine->gateway, http_request_tag(request), &call.transport)) {
        api_error(request, 408, "the client has gone"); /* nobody reads this */
        return;
    }
    if (http_request_header(request, "E2b-Sandbox-Id")) {
        http_reply_close(request);
        api_error(request, 421,
                  "this connection is with the control plane: open another one for a sandbox");
        return;
    }
    /* Clients of the TCP address use one connection for all sandboxes too, but we give each to one
     * target. */
    if (call.transport == TRANSPORT_TCP)
        http_reply_close(request);
    authorize(&call, http_request_path(request));
}

void control_plane_handle(http_request *request, void *user) {
    struct engine *engine = user;
    struct api_call call = {.engine = engine, .request = request};
    const char *method = http_request_method(request), *path = http_request_path(request);
    if (!gateway_transport(engine->gateway, http_request_tag(request), &call.transport)) {
        api_error(request, 408, "the client has gone");
        return;
    }
    if (engine->stopping && (strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0)) {
        http_reply_close(request);
        api_error(request, 503, "the engine is stopping");
        return;
    }
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (strcmp(method, routes[i].method) == 0 && matches(routes[i].path, path, call.id)) {
            call.version = routes[i].version;
            routes[i].operation(&call);
            return;
        }
    }
    answer_unknown(request, method, path);
}

void api_no_sandbox(http_request *request, const char *id) {
    api_error(request, 404, "sandbox \"%s\" not found", id);
}

struct sandbox *api_sandbox(const struct api_call *call) {
    struct sandbox *sandbox = sandboxes_find(call->engine->sandboxes, call->id);
    if (!sandbox)
        api_no_sandbox(call->request, call->id);
    return sandbox;
}

struct sandbox *api_running_sandbox(const struct api_call *call) {
    struct sandbox *sandbox = api_sandbox(call);
    if (!sandbox || sandbox_seems_running(sandbox))
        return sandbox;
    api_error(call->request, 409, "sandbox \"%s\" is paused: resume it, or connect to it",
              call->id);
    return NULL;
}

json_t *api_body(const struct api_call *call, const struct field_rule *rules, bool optional) {
    char message[512];
    size_t length;
    const char *body = http_request_body(call->request, &length);
    json_t *object = fields_parse(body, length, rules, optional, message, sizeof message);
    if (!object)
        api_error(call->request, 400, "%s", message);
    return object;
}

void api_done(http_request *request) {
    http_reply(request, 204, NULL, "", 0);
}

int api_lease_holder(const struct api_call *call) {
    int pidfd = -1;
    if (call->transport != TRANSPORT_UNIX)
        api_error(call->request, 400,
                  "a lease is held by a process: it can only be taken over the unix socket");
    else if ((pidfd = gateway_open_peer(call->engine->gateway, http_request_tag(call->request))) <
             0)
        api_error(call->request, 400,
                  "a lease is held by a process, and the engine cannot see yours");
    return pidfd;
}
