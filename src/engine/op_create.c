/* POST /sandboxes, POST /v2/sandboxes: makes a sandbox, and answers when it is ready. */
#include "control_plane.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caps.h"
#include "create_fields.h"

/* Seconds to live when the client does not say. */
#define DEFAULT_TIMEOUT_V1 15
#define DEFAULT_TIMEOUT_V2 300

/* A request that waits for its sandbox. */
struct creation {
    struct engine *engine;
    http_request *request;
    struct sandbox *sandbox;
};

static void on_started(struct sandbox *sandbox, int status, const char *message, void *user) {
    struct creation *creation = user;
    http_request *request = creation->request;
    http_request_on_gone(request, NULL, NULL);
    if (sandbox)
        http_reply_json(
            request, status,
            sandbox_record_created(sandbox_record_of(sandbox), &creation->engine->host));
    else
        api_error(request, status, "%s", message);
    free(creation);
}

/* Nobody would ever learn its id. */
static void on_client_gone(void *user) {
    struct creation *creation = user;
    sandbox_end(creation->sandbox, "the client that asked for it has gone", NULL, NULL);
}

static void create(const struct api_call *call, const sandbox_request *wanted) {
    struct creation *creation = malloc(sizeof *creation);
    int status = 503;
    char message[1024] = "out of memory";
    if (creation) {
        *creation = (struct creation){.engine = call->engine, .request = call->request};
        creation->sandbox = sandbox_create(call->engine->sandboxes, wanted, on_started, creation,
                                           &status, message, sizeof message);
        if (creation->sandbox) {
            http_request_on_gone(call->request, on_client_gone, creation);
            return;
        }
        free(creation);
    } else if (wanted->lease_fd >= 0) {
        close(wanted->lease_fd);
    }
    api_error(call->request, status, "%s", message);
}

/* "Stepbox-Lease: process" ties the sandbox to the client's process. Answers and returns false when
 * it cannot. */
static bool read_lease(const struct api_call *call, int *pidfd) {
    const char *lease = http_request_header(call->request, "Stepbox-Lease");
    *pidfd = -1;
    if (!lease)
        return true;
    if (strcmp(lease, "process") != 0) {
        api_error(call->request, 400, "the header Stepbox-Lease must be \"process\"");
        return false;
    }
    *pidfd = api_lease_holder(call);
    return *pidfd >= 0;
}

/* What it may take, and whether there is room for it. Answers and returns false when not. */
static bool read_limits(const struct api_call *call, json_t *body, const char *alias,
                        struct limits *limits) {
    const struct engine *engine = call->engine;
    char message[512];
    *limits = engine_config_limits(&engine->config, alias);
    limits_override(limits, fields_get(body, "limits"));
    if (!limits_fit(limits, &engine->host, message, sizeof message)) {
        api_error(call->request, 400, "%s", message);
        return false;
    }
    if (caps_admit(&engine->config, engine->sandboxes, limits, message, sizeof message))
        return true;
    http_reply_header(call->request, "Retry-After", CAPS_RETRY_AFTER);
    api_error(call->request, 429, "%s", message);
    return false;
}

void op_create(const struct api_call *call) {
    json_t *body = api_body(call, create_fields(call->version), false);
    if (!body)
        return;
    bool second = call->version == 2;
    const char *template_id = json_string_value(fields_get(body, "templateID"));
    sandbox_request wanted = {
        .template_id = template_id,
        .alias = template_alias(template_id),
        .secure = second || fields_boolean(body, "secure", false),
        .internet_denied = fields_get(body, "allow_internet_access") != NULL,
        .auto_pause = fields_boolean(body, "autoPause", false),
        .auto_resume = json_is_true(json_object_get(fields_get(body, "autoResume"), "enabled")),
        .timeout =
            (int)fields_integer(body, "timeout", second ? DEFAULT_TIMEOUT_V2 : DEFAULT_TIMEOUT_V1),
        .metadata = fields_get(body, "metadata"),
        .environment = fields_get(body, "envVars"),
    };
    if (!wanted.alias)
        api_error(call->request, 404,
                  "template \"%s\" not found: this engine has base, code-interpreter-v1 and "
                  "code-interpreter",
                  template_id);
    else if (read_limits(call, body, wanted.alias, &wanted.limits) &&
             read_lease(call, &wanted.lease_fd))
        create(call, &wanted);
    json_decref(body);
}
