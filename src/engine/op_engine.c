/* GET /engine, DELETE /engine: the engine itself, for its user at the unix socket alone. */
#include "control_plane.h"

#include <string.h>
#include <unistd.h>

#include "../core/stepbox.h" /* SB_VERSION */
#include "caps.h"
#include "language_table.h"
#include "network.h"
#include "payload.h"
#include "rfc3339.h"

static bool is_here(const struct api_call *call) {
    if (call->transport == TRANSPORT_UNIX)
        return true;
    api_error(call->request, 403, "the engine answers for itself on its unix socket only");
    return false;
}

/* Answers and returns false when there is a parameter that is not known, or not so. */
struct parameters {
    bool force;
    const char *bad; /* valid while the request is */
};

static void read_parameter(const char *name, const char *value, void *user) {
    struct parameters *parameters = user;
    if (strcmp(name, "force") == 0 && strcmp(value, "true") == 0)
        parameters->force = true;
    else if (strcmp(name, "force") != 0 || strcmp(value, "false") != 0)
        parameters->bad = name;
}

/* Whether sandboxes get the runner. */
static bool has_runner(const struct payload *payload, const struct language *language) {
    char path[200];
    snprintf(path, sizeof path, PAYLOAD_DIRECTORY "/runners/%s/%s", language->folder,
             language->file);
    for (size_t i = 0; i < payload->count; i++) {
        if (strcmp(payload->entries[i].path, path) == 0)
            return true;
    }
    return false;
}

/* The names of the languages that there are runners for. */
static json_t *languages(const struct payload *payload) {
    json_t *list = json_array();
    for (size_t i = 0; i < language_table_size; i++) {
        if (has_runner(payload, &language_table[i]))
            json_array_append_new(list, json_string(language_table[i].name));
    }
    return list;
}

/* What this host offers. Each topic adds a key of its own. */
static json_t *describe_host(const struct engine *engine) {
    json_t *host = json_object();
    json_object_set_new(host, "caps", caps_describe(&engine->config, engine->sandboxes));
    json_object_set_new(host, "limits", cgroups_describe(engine->cgroups));
    json_object_set_new(host, "isolation", sandboxes_isolation_describe(engine->sandboxes));
    json_object_set_new(host, "zygotes", sandboxes_zygotes_describe(engine->sandboxes));
    json_object_set_new(host, "seccomp", syscall_filter_describe(engine->filter));
    json_object_set_new(host, "network", network_host_describe());
    return host;
}

void op_engine(const struct api_call *call) {
    if (!is_here(call))
        return;
    const struct engine *engine = call->engine;
    char started[RFC3339_SIZE];
    rfc3339_format(engine->started_at, started);
    json_t *body = json_pack(
        "{s:s, s:I, s:s?, s:s, s:I, s:I, s:f, s:o, s:o}", "version", SB_VERSION, "pid",
        (json_int_t)getpid(), "socket", engine->socket, "startedAt", started, "sandboxes",
        (json_int_t)sandboxes_count(engine->sandboxes), "connections",
        (json_int_t)gateway_count(engine->gateway), "idleTimeout", engine->options->idle_timeout,
        "languages", languages(engine->payload), "host", describe_host(engine));
    if (body)
        http_reply_json(call->request, 200, body);
    else
        api_error(call->request, 500, "out of memory");
}

void op_engine_stop(const struct api_call *call) {
    if (!is_here(call))
        return;
    struct parameters parameters = {0};
    http_request_each_query(call->request, read_parameter, &parameters);
    size_t count = sandboxes_count(call->engine->sandboxes);
    if (parameters.bad) {
        api_error(call->request, 400,
                  "query parameter \"%.100s\": only force=true or false is known", parameters.bad);
    } else if (count > 0 && !parameters.force) {
        api_error(call->request, 409,
                  "%zu sandbox%s run%s here, and would be killed: force=true does that", count,
                  count == 1 ? "" : "es", count == 1 ? "s" : "");
    } else {
        http_reply_close(call->request);
        json_t *body =
            json_pack("{s:I, s:I}", "pid", (json_int_t)getpid(), "sandboxes", (json_int_t)count);
        http_reply_json(call->request, 200, body);
        engine_leave(call->engine);
    }
}
