#include "create_body.h"

#include "create_limits.h"
#include "error.h"
#include "network.h"
#include "sandbox.h"

#define DEFAULT_TEMPLATE "code-interpreter-v1"
#define DEFAULT_TIMEOUT 300.0

static int add_pairs(json_t *body, const char *key, const sb_pair *pairs, size_t count,
                     const char *name, sb_error *err) {
    if (pairs == NULL) {
        return 0;
    }
    json_t *object = sbi_pairs_to_json(pairs, count, name, err);
    if (object == NULL) {
        return -1;
    }
    return json_object_set_new(body, key, object) == 0 ? 0 : sbi_no_memory(err);
}

static int add_network(json_t *body, const sb_network *network, sb_error *err) {
    json_t *object = network != NULL ? sbi_network_json(network, err) : NULL;
    if (object == NULL) {
        return network != NULL ? -1 : 0;
    }
    if (json_object_size(object) == 0) {
        json_decref(object);
        return 0;
    }
    return json_object_set_new(body, "network", object) == 0 ? 0 : sbi_no_memory(err);
}

json_t *sbi_create_body(const sb_create_options *options, bool local, sb_error *err) {
    const char *template_id =
        options->template_id != NULL ? options->template_id : DEFAULT_TEMPLATE;
    json_int_t seconds;
    double timeout = options->timeout != 0 ? options->timeout : DEFAULT_TIMEOUT;
    if (sbi_wire_seconds(timeout, "timeout", &seconds, err) != 0) {
        return NULL;
    }
    json_t *body = json_pack("{s:s, s:I}", "templateID", template_id, "timeout", seconds);
    if (body == NULL) {
        sbi_fail(err, SB_INVALID, "template or snapshot: is not UTF-8");
        return NULL;
    }
    int status = add_pairs(body, "envVars", options->envs, options->env_count, "envs", err);
    if (status == 0) {
        status = add_pairs(body, "metadata", options->metadata, options->metadata_count, "metadata",
                           err);
    }
    if (status == 0) {
        status = sbi_create_limits(body, &options->limits, local, err);
    }
    if (status == 0) {
        status = add_network(body, options->network, err);
    }
    if (status == 0 && options->allow_internet != 0) {
        json_object_set_new(body, "allow_internet_access",
                            json_boolean(options->allow_internet > 0));
    }
    if (status == 0 && options->auto_pause) {
        json_object_set_new(body, "autoPause", json_true());
    }
    if (status == 0 && options->auto_resume) {
        json_object_set_new(body, "autoResume", json_pack("{s:b}", "enabled", true));
    }
    if (status != 0) {
        json_decref(body);
        return NULL;
    }
    return body;
}
