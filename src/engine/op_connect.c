/* POST /sandboxes/{id}/connect, POST /v2/sandboxes/{id}/connect: what a client needs to go on with
 * a sandbox. */
#include "control_plane.h"

void op_connect(const struct api_call *call) {
    static const struct field_rule first[] = {{.name = "timeout",
                                               .check = field_integer,
                                               .required = true,
                                               .least = 1,
                                               .most = MAX_TIMEOUT},
                                              FIELD(NULL, NULL)};
    /* memory: how to resume a paused sandbox; there are none here, so both values mean the same. */
    static const struct field_rule second[] = {
        {.name = "timeout", .check = field_integer, .least = 1, .most = MAX_TIMEOUT},
        FIELD("memory", field_boolean),
        FIELD(NULL, NULL)};
    struct sandbox *sandbox = api_sandbox(call);
    json_t *body =
        sandbox ? api_body(call, call->version == 1 ? first : second, call->version == 2) : NULL;
    if (!body)
        return;
    json_int_t timeout = fields_integer(body, "timeout", 0);
    json_decref(body);
    if (timeout > 0)
        sandbox_extend(sandbox, (int)timeout);
    http_reply_json(call->request, 200,
                    sandbox_record_created(sandbox_record_of(sandbox), &call->engine->host));
}
