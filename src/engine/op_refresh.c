/* POST /sandboxes/{id}/refreshes: keeps a sandbox for at least so many seconds from now. */
#include "control_plane.h"

#define DEFAULT_DURATION 60
#define MAX_DURATION 3600

void op_refresh(const struct api_call *call) {
    static const struct field_rule rules[] = {
        {.name = "duration", .check = field_integer, .least = 0, .most = MAX_DURATION},
        FIELD(NULL, NULL)};
    struct sandbox *sandbox = api_running_sandbox(call);
    json_t *body = sandbox ? api_body(call, rules, true) : NULL;
    if (!body)
        return;
    sandbox_extend(sandbox, (int)fields_integer(body, "duration", DEFAULT_DURATION));
    json_decref(body);
    api_done(call->request);
}
