#include "network.h"

#include "box.h"
#include "error.h"
#include "sandbox.h"

#include <stdio.h>

/* A list that is not given is left out. */
static int add_list(json_t *object, const char *field, const char *const *list, size_t count,
                    const char *option, sb_error *err) {
    if (list == NULL) {
        return 0;
    }
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *entry = json_string(list[i]);
        if (entry == NULL) {
            json_decref(array);
            return sbi_fail(err, SB_INVALID, "%s: entry %zu is not UTF-8", option, i + 1);
        }
        json_array_append_new(array, entry);
    }
    return json_object_set_new(object, field, array) == 0 ? 0 : sbi_no_memory(err);
}

static int add_proxy(json_t *object, const sb_network *network, sb_error *err) {
    if (network->proxy == NULL) {
        return 0;
    }
    json_t *proxy = json_pack("{s:s, s:s*, s:s*}", "address", network->proxy, "username",
                              network->proxy_user, "password", network->proxy_password);
    if (proxy == NULL) {
        return sbi_fail(err, SB_INVALID, "egress_proxy: is not UTF-8");
    }
    return json_object_set_new(object, "egressProxy", proxy) == 0 ? 0 : sbi_no_memory(err);
}

json_t *sbi_network_json(const sb_network *network, sb_error *err) {
    json_t *object = json_object();
    if (object == NULL) {
        sbi_no_memory(err);
    } else if (add_list(object, "allowOut", network->allow_out, network->allow_count, "allow_out",
                        err) != 0 ||
               add_list(object, "denyOut", network->deny_out, network->deny_count, "deny_out",
                        err) != 0 ||
               add_proxy(object, network, err) != 0) {
        json_decref(object);
        object = NULL;
    }
    return object;
}

static void on_done(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    sbi_exchange_check(exchange, &error);
    sbi_box_explain_control(op->data, &error);
    sbi_op_finish(op, &error);
}

static const struct sbi_op_kind set_network_kind = {.name = "set network",
                                                    .release = sbi_box_op_release};

sb_op *sb_box_set_network(sb_box *box, const sb_network *network, int allow_internet,
                          sb_error *err) {
    json_t *body = sbi_network_json(network, err);
    if (body == NULL) {
        return NULL;
    }
    if (allow_internet != 0) {
        json_object_set_new(body, "allow_internet_access", json_boolean(allow_internet > 0));
    }
    sb_op *op = sbi_box_op(box, &set_network_kind, err);
    if (op == NULL || op->done) {
        json_decref(body);
        return op;
    }
    char path[200];
    snprintf(path, sizeof path, "/sandboxes/%s/network", box->address.id);
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_done, err);
    if (exchange == NULL || sbi_exchange_to_control(exchange, "PUT", path, err) != 0) {
        json_decref(body);
        return sbi_send_or_drop(op, -1);
    }
    return sbi_send_or_drop(op, sbi_exchange_set_json(exchange, body, err));
}
