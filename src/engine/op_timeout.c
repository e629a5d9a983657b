/* POST /sandboxes/{id}/timeout: moves the end to so many seconds from now, earlier or later. */
#include "control_plane.h"

void op_timeout(const struct api_call *call) {
    static const struct field_rule rules[] = {{.name = "timeout",
                                               .check = field_integer,
                                               .required = true,
                                               .least = 1,
                                               .most = MAX_TIMEOUT},
                                              FIELD(NULL, NULL)};
    struct sandbox *sandbox = api_running_sandbox(call);
    json_t *body = sandbox ? api_body(call, rules, false) : NULL;
    if (!body)
        return;
    sandbox_set_timeout(sandbox, (int)fields_integer(body, "timeout", 0));
    json_decref(body);
    api_done(call->request);
}
