#include "box.h"
#include "client.h"
#include "op.h"
#include "sandbox.h"

#include <stdio.h>

/* op->flag: the new box is to own. */
static void on_lease(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    if (sbi_exchange_check(exchange, &error) == 0) {
        sbi_box_take_ownership(op->box, &error);
    }
    sbi_op_finish(op, &error);
}

static void on_connected(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    struct sbi_config *config = exchange->config;
    struct sbi_address address;
    sb_error error = {0};
    json_t *answer = sbi_exchange_json(exchange, &error);
    if (answer == NULL || sbi_address_parse(&address, answer, &error) != 0 ||
        (op->box = sbi_box_new(op->loop, config, &address, &error)) == NULL) {
        json_decref(answer);
        sbi_op_finish(op, &error);
        return;
    }
    json_decref(answer);
    if (!op->flag) {
        sbi_op_finish(op, NULL);
        return;
    }
    if (!config->local) {
        sbi_box_take_ownership(op->box, &error);
        sbi_op_finish(op, &error);
        return;
    }
    char path[160];
    double timeout = exchange->timeout;
    snprintf(path, sizeof path, "/sandboxes/%s/lease", op->box->address.id);
    exchange = sbi_op_exchange(op, config, on_lease, &error);
    if (exchange == NULL || sbi_exchange_to_control(exchange, "PUT", path, &error) != 0) {
        sbi_op_finish(op, &error);
        return;
    }
    exchange->timeout = timeout;
    sbi_op_send(op, SBI_OP_REQUEST);
}

static const struct sbi_op_kind connect_kind = {.name = "connect"};

/* Connecting has a paused sandbox go on; asking for it does not, and tells what a box needs. */
static int describe_look(struct sbi_exchange *exchange, const char *id,
                         const sb_connect_options *options, sb_error *err) {
    char path[160];
    snprintf(path, sizeof path, "/sandboxes/%s", id);
    if (options->timeout != 0) {
        return sbi_fail(err, SB_INVALID, "timeout: a sandbox that shall stay paused gets none");
    }
    return sbi_request_timeout(exchange, options->request_timeout, err) == 0
               ? sbi_exchange_to_control(exchange, "GET", path, err)
               : -1;
}

static int describe_connect(struct sbi_exchange *exchange, const char *id,
                            const sb_connect_options *options, sb_error *err) {
    char path[160];
    json_int_t seconds;
    snprintf(path, sizeof path, "/v2/sandboxes/%s/connect", id);
    if (sbi_wire_seconds(options->timeout, "timeout", &seconds, err) != 0 ||
        sbi_request_timeout(exchange, options->request_timeout, err) != 0 ||
        sbi_exchange_to_control(exchange, "POST", path, err) != 0) {
        return -1;
    }
    json_t *body = seconds > 0 ? json_pack("{s:I}", "timeout", seconds) : json_object();
    return sbi_exchange_set_json(exchange, body, err);
}

sb_op *sb_connect(sb_client *client, const char *id, const sb_connect_options *options,
                  sb_error *err) {
    static const sb_connect_options defaults;
    options = options != NULL ? options : &defaults;
    sb_op *op = sbi_check_id(id, err) == 0 ? sbi_op_new(client->loop, &connect_kind, err) : NULL;
    if (op == NULL) {
        return NULL;
    }
    op->flag = options->own;
    struct sbi_exchange *exchange = sbi_op_exchange(op, client->config, on_connected, err);
    int status = -1;
    if (exchange != NULL) {
        status = options->leave_paused ? describe_look(exchange, id, options, err)
                                       : describe_connect(exchange, id, options, err);
    }
    return sbi_send_or_drop(op, status);
}
