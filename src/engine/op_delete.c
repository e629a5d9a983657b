/* DELETE /sandboxes/{id}: kills a sandbox, and answers when its processes are gone. */
#include "control_plane.h"

static void on_ended(bool gone, void *user) {
    /* If not gone: it was killed and nobody finds it any more; the log has a warning. */
    (void)gone;
    api_done(user);
}

void op_delete(const struct api_call *call) {
    struct sandbox *sandbox = api_sandbox(call);
    if (sandbox && sandbox_end(sandbox, "a client killed it", on_ended, call->request) < 0)
        api_done(call->request);
}
