/* POST /sandboxes/{id}/pause: everything in a sandbox stands still until it is resumed. */
#include "control_plane.h"

#include <stdio.h>

static void on_settled(struct sandbox *sandbox, int status, const char *message, void *user) {
    (void)sandbox;
    if (status == 0)
        api_done(user);
    else
        api_error(user, status, "%s", message);
}

static bool with_memory(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room,
             "must be true or absent: this engine keeps the memory of what it pauses, and has "
             "snapshots for files alone");
    return json_is_true(value);
}

void op_pause(const struct api_call *call) {
    static const struct field_rule rules[] = {
        FIELD("memory", with_memory),
        FIELD("requireHealthyGuest", field_boolean), /* always so: the agent has to answer */
        FIELD(NULL, NULL)};
    struct sandbox *sandbox = api_sandbox(call);
    json_t *body = sandbox ? api_body(call, rules, true) : NULL;
    if (!body)
        return;
    json_decref(body);
    char message[256];
    int status = sandbox_pause(sandbox, on_settled, call->request, message, sizeof message);
    if (status != 0)
        api_error(call->request, status, "%s", message);
}
