/* GET /sandboxes/{id}: E2B's description, and under "local" what only this engine knows. */
#include "control_plane.h"

/* Each topic adds a key of its own. */
static json_t *describe_local(const struct api_call *call, const struct sandbox *sandbox) {
    json_t *local = json_object();
    json_object_set_new(local, "limits", sandbox_limits_describe(sandbox));
    json_object_set_new(local, "isolation", sandboxes_isolation_describe(call->engine->sandboxes));
    json_object_set_new(local, "refusedCalls", sandbox_refused_describe(sandbox));
    json_object_set_new(local, "network", network_describe(sandbox_network_of(sandbox)));
    json_object_set_new(local, "runners", sandbox_runners_describe(sandbox));
    return local;
}

void op_get(const struct api_call *call) {
    struct sandbox *sandbox = api_sandbox(call);
    if (!sandbox)
        return;
    json_t *detail = sandbox_record_detail(sandbox_record_of(sandbox), &call->engine->host);
    if (detail) {
        network_describe_config(sandbox_network_of(sandbox), detail);
        json_object_set_new(detail, "local", describe_local(call, sandbox));
    }
    http_reply_json(call->request, 200, detail);
}
