/* GET /sandboxes/{id} */
#include "control_plane.h"

void op_get(const struct api_call *call) {
    struct sandbox *sandbox = api_sandbox(call);
    if (sandbox)
        http_reply_json(call->request, 200,
                        sandbox_record_detail(sandbox_record_of(sandbox), &call->engine->host));
}
