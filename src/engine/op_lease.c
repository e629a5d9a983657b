/* PUT and DELETE /sandboxes/{id}/lease: ties a sandbox to the client's process, or to none. */
#include "control_plane.h"

void op_lease_take(const struct api_call *call) {
    struct sandbox *sandbox = api_sandbox(call);
    int pidfd = sandbox ? api_lease_holder(call) : -1;
    if (pidfd < 0)
        return;
    sandbox_set_lease(sandbox, pidfd);
    api_done(call->request);
}

void op_lease_release(const struct api_call *call) {
    struct sandbox *sandbox = api_sandbox(call);
    if (!sandbox)
        return;
    if (call->transport != TRANSPORT_UNIX) {
        api_error(call->request, 400,
                  "a lease is held by a process: it can only be released over the unix socket");
        return;
    }
    sandbox_set_lease(sandbox, -1);
    api_done(call->request);
}
