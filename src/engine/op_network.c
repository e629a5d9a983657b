/* PUT /sandboxes/{id}/network: whom a running sandbox may reach, in place of what held before. */
#include "control_plane.h"

#include "network_config.h"

static void on_done(const char *error, void *user) {
    http_request *request = user;
    if (error)
        api_error(request, 500, "the network could not be changed: %s", error);
    else
        api_done(request);
}

void op_network(const struct api_call *call) {
    static const struct field_rule rules[] = {
        FIELD("allowOut", network_allow_field),        FIELD("denyOut", network_deny_field),
        FIELD("egressProxy", network_proxy_field),     FIELD("rules", network_rules_field),
        FIELD("allow_internet_access", field_boolean), FIELD(NULL, NULL)};
    struct sandbox *sandbox = api_sandbox(call);
    json_t *body = sandbox ? api_body(call, rules, false) : NULL;
    if (!body)
        return;
    char message[512];
    network_config config;
    if (network_config_read(&config, fields_get(body, "allow_internet_access"), body, message,
                            sizeof message) < 0)
        api_error(call->request, 400, "%s", message);
    else if (network_config_opens(&config) && network_available(message, sizeof message) < 0) {
        network_config_free(&config);
        api_error(call->request, 503, "%s", message);
    } else
        sandbox_set_network(sandbox, &config, on_done, call->request);
    json_decref(body);
}
