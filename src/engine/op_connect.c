/* POST /sandboxes/{id}/connect, POST /v2/sandboxes/{id}/connect: what a client needs to go on with
 * a sandbox, which is resumed when it is paused. */
#include "control_plane.h"

/* Seconds to live for one that is resumed, when the client does not say. */
#define DEFAULT_TIMEOUT 300

void op_connect(const struct api_call *call) {
    static const struct field_rule first[] = {{.name = "timeout",
                                               .check = field_integer,
                                               .required = true,
                                               .least = 1,
                                               .most = MAX_TIMEOUT},
                                              FIELD(NULL, NULL)};
    static const struct field_rule second[] = {
        {.name = "timeout", .check = field_integer, .least = 1, .most = MAX_TIMEOUT},
        FIELD("memory", field_boolean), /* how to resume; one that runs goes on as it is */
        FIELD(NULL, NULL)};
    struct sandbox *sandbox = api_sandbox(call);
    json_t *body =
        sandbox ? api_body(call, call->version == 1 ? first : second, call->version == 2) : NULL;
    if (!body)
        return;
    int timeout = (int)fields_integer(body, "timeout", 0);
    bool memory = fields_boolean(body, "memory", true);
    json_decref(body);
    if (!sandbox_seems_running(sandbox)) {
        if (memory)
            api_resume(call, sandbox, timeout > 0 ? timeout : DEFAULT_TIMEOUT);
        else
            api_error(call->request, 400,
                      "\"memory\" must be true or absent: this engine resumes sandboxes with "
                      "their memory");
        return;
    }
    if (timeout > 0)
        sandbox_extend(sandbox, timeout);
    http_reply_json(call->request, 200,
                    sandbox_record_created(sandbox_record_of(sandbox), &call->engine->host));
}
