/* POST /sandboxes/{id}/resume: lets a paused sandbox go on. */
#include "control_plane.h"

#include <stdlib.h>

/* Seconds to live when the client does not say. */
#define DEFAULT_TIMEOUT 15

/* A request that waits for its sandbox to go on. */
struct resumption {
    struct engine *engine;
    http_request *request;
};

static void on_settled(struct sandbox *sandbox, int status, const char *message, void *user) {
    struct resumption *resumption = user;
    if (status == 0)
        http_reply_json(
            resumption->request, 201,
            sandbox_record_created(sandbox_record_of(sandbox), &resumption->engine->host));
    else
        api_error(resumption->request, status, "%s", message);
    free(resumption);
}

void api_resume(const struct api_call *call, struct sandbox *sandbox, int seconds) {
    struct resumption *resumption = malloc(sizeof *resumption);
    int status = 503;
    char message[256] = "out of memory";
    if (resumption) {
        *resumption = (struct resumption){call->engine, call->request};
        status = sandbox_resume(sandbox, seconds, on_settled, resumption, message, sizeof message);
    }
    if (status != 0) {
        free(resumption);
        api_error(call->request, status, "%s", message);
    }
}

void op_resume(const struct api_call *call) {
    static const struct field_rule rules[] = {
        {.name = "timeout", .check = field_integer, .least = 1, .most = MAX_TIMEOUT},
        FIELD("autoPause", field_boolean),
        FIELD(NULL, NULL)};
    struct sandbox *sandbox = api_sandbox(call);
    json_t *body = sandbox ? api_body(call, rules, true) : NULL;
    if (!body)
        return;
    if (sandbox_seems_running(sandbox)) {
        api_error(call->request, 409, "sandbox \"%s\" is running already", call->id);
    } else {
        if (fields_get(body, "autoPause"))
            sandbox_set_auto_pause(sandbox, fields_boolean(body, "autoPause", false));
        api_resume(call, sandbox, (int)fields_integer(body, "timeout", DEFAULT_TIMEOUT));
    }
    json_decref(body);
}
