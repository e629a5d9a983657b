/* POST /sandboxes, POST /v2/sandboxes: makes a sandbox, and answers when it is ready. */
#include "control_plane.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "caps.h"
#include "create_fields.h"
#include "creation.h"

/* Seconds to live when the client does not say. */
#define DEFAULT_TIMEOUT_V1 15
#define DEFAULT_TIMEOUT_V2 300

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

/* The template of an id, or that of the sandbox of which it is a snapshot. */
static const char *alias_of(const struct api_call *call, const char *template_id,
                            struct snapshot **snapshot) {
    const char *alias = template_alias(template_id);
    *snapshot = alias ? NULL : snapshots_find(call->engine->snapshots, template_id);
    return *snapshot ? (*snapshot)->alias : alias;
}

/* The files that it begins with. Answers and returns false when they cannot be had. */
static bool open_snapshot(const struct api_call *call, const struct snapshot *snapshot, int *fd) {
    *fd = snapshot ? snapshot_open(snapshot) : -1;
    if (!snapshot || *fd >= 0)
        return true;
    api_error(call->request, 503, "the snapshot cannot be read: %s", strerror(errno));
    return false;
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

/* "Idempotency-Key": the same request may be sent again. Returns false when it was answered: the
 * key is wrong, or known. */
static bool read_key(const struct api_call *call, json_t *body, const char **key) {
    *key = http_request_header(call->request, "Idempotency-Key");
    if (!*key)
        return true;
    if (!idempotency_key_is_valid(*key)) {
        api_error(call->request, 400,
                  "the header Idempotency-Key must have 1 to %d characters of visible ASCII",
                  IDEMPOTENCY_KEY_MAX);
        return false;
    }
    struct keyed_create *known = idempotency_find(call->engine->idempotency, call->transport, *key);
    if (known && idempotency_is_same(known, call->version, body))
        creation_join(call, known);
    else if (known)
        api_error(call->request, 409,
                  "the Idempotency-Key was sent before with another request to create a sandbox");
    return !known;
}

/* Whom it may reach, and whether this host can let it. Answers and returns false when not. */
static bool read_network(const struct api_call *call, json_t *body, network_config *config) {
    char message[512];
    if (network_config_read(config, fields_get(body, "allow_internet_access"),
                            fields_get(body, "network"), message, sizeof message) < 0)
        api_error(call->request, 400, "%s", message);
    else if (!network_config_opens(config) || network_available(message, sizeof message) == 0)
        return true;
    else
        api_error(call->request, 503, "%s", message);
    return false;
}

void op_create(const struct api_call *call) {
    json_t *body = api_body(call, create_fields(call->version), false);
    if (!body)
        return;
    const char *key;
    if (!read_key(call, body, &key)) {
        json_decref(body);
        return;
    }
    struct snapshot *snapshot;
    bool second = call->version == 2;
    const char *template_id = json_string_value(fields_get(body, "templateID"));
    network_config network = {0};
    sandbox_request wanted = {
        .network = &network,
        .guarded =
            json_is_false(json_object_get(fields_get(body, "network"), "allowPublicTraffic")),
        .template_id = template_id,
        .alias = alias_of(call, template_id, &snapshot),
        .secure = second || fields_boolean(body, "secure", false),
        .auto_pause = fields_boolean(body, "autoPause", false),
        .auto_resume = json_is_true(json_object_get(fields_get(body, "autoResume"), "enabled")),
        .timeout =
            (int)fields_integer(body, "timeout", second ? DEFAULT_TIMEOUT_V2 : DEFAULT_TIMEOUT_V1),
        .metadata = fields_get(body, "metadata"),
        .environment = fields_get(body, "envVars"),
        .snapshot_fd = -1,
    };
    if (!wanted.alias)
        api_error(call->request, 404,
                  "template \"%s\" not found: this engine has base, code-interpreter-v1, "
                  "code-interpreter and the snapshots that were taken in it",
                  template_id);
    else if (read_network(call, body, &network) &&
             read_limits(call, body, wanted.alias, &wanted.limits) &&
             open_snapshot(call, snapshot, &wanted.snapshot_fd) &&
             read_lease(call, &wanted.lease_fd))
        creation_begin(call, &wanted, key, body);
    if (wanted.snapshot_fd >= 0)
        close(wanted.snapshot_fd);
    network_config_free(&network);
    json_decref(body);
}
