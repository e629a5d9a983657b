#include "sandbox.h"

#include "client.h"
#include "op.h"
#include "text.h"

#include <stdio.h>

int sbi_wire_seconds(double seconds, const char *name, json_int_t *whole, sb_error *err) {
    if (!(seconds >= 0)) {
        return sbi_fail(err, SB_INVALID, "%s: must be more than 0 seconds", name);
    }
    if (seconds > INT32_MAX) {
        return sbi_fail(err, SB_INVALID, "%s: must be fewer seconds", name);
    }
    *whole = (json_int_t)seconds;
    *whole += (double)*whole < seconds;
    return 0;
}

json_t *sbi_pairs_to_json(const sb_pair *pairs, size_t count, const char *name, sb_error *err) {
    json_t *object = json_object();
    if (object == NULL) {
        sbi_no_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].name == NULL || pairs[i].value == NULL || pairs[i].name[0] == '\0') {
            sbi_fail(err, SB_INVALID, "%s: number %zu has no name or no value", name, i + 1);
            json_decref(object);
            return NULL;
        }
        if (json_object_set_new(object, pairs[i].name, json_string(pairs[i].value)) != 0) {
            sbi_fail(err, SB_INVALID, "%s: %.80s is not UTF-8", name, pairs[i].name);
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

int sbi_json_add_string(json_t *object, const char *name, const char *value, sb_error *err) {
    if (value == NULL || json_object_set_new(object, name, json_string(value)) == 0) {
        return 0;
    }
    return sbi_fail(err, SB_INVALID, "%s: is not UTF-8", name);
}

int sbi_request_timeout(struct sbi_exchange *exchange, double timeout, sb_error *err) {
    if (!(timeout >= 0)) {
        return sbi_fail(err, SB_INVALID, "request_timeout: must be more than 0 seconds");
    }
    if (timeout > 0) {
        exchange->timeout = exchange->connect_timeout = timeout;
    }
    return 0;
}

int sbi_check_id(const char *id, sb_error *err) {
    if (id == NULL || !sbi_is_sandbox_id(id)) {
        return sbi_fail(err, SB_INVALID, "id: not a sandbox's id");
    }
    return 0;
}

sb_op *sbi_send_or_drop(sb_op *op, int described) {
    if (described != 0) {
        sb_op_free(op);
        return NULL;
    }
    sbi_op_send(op, SBI_OP_REQUEST);
    return op;
}

static void on_killed(void *user, struct sbi_exchange *exchange) {
    sb_error error = {0};
    sbi_exchange_check(exchange, &error);
    sbi_op_finish(user, &error);
}

static const struct sbi_op_kind kill_kind = {.name = "kill"};

sb_op *sb_kill(sb_client *client, const char *id, sb_error *err) {
    sb_op *op = sbi_check_id(id, err) == 0 ? sbi_op_new(client->loop, &kill_kind, err) : NULL;
    if (op == NULL) {
        return NULL;
    }
    char path[160];
    snprintf(path, sizeof path, "/sandboxes/%s", id);
    struct sbi_exchange *exchange = sbi_op_exchange(op, client->config, on_killed, err);
    return sbi_send_or_drop(
        op, exchange == NULL ? -1 : sbi_exchange_to_control(exchange, "DELETE", path, err));
}
