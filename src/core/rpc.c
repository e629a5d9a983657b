#include "rpc.h"

#include "base64.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#define MAX_USER 256u

/* Servers that take a call without a user as one of their default user's. */
static bool knows_default_user(const struct sbi_address *address) {
    return sbi_address_has_version(address, 0, 4, 0);
}

static int add_user(struct sbi_exchange *exchange, const char *user, sb_error *err) {
    char pair[MAX_USER + 2], line[MAX_USER * 2 + 64] = "Authorization: Basic ";
    size_t length = strlen(user);
    if (length == 0 || length > MAX_USER || strchr(user, ':') != NULL) {
        return sbi_fail(err, SB_INVALID, "user: not a user's name");
    }
    memcpy(pair, user, length);
    pair[length++] = ':'; /* no password */
    sbi_base64_encode(pair, length, line + strlen(line));
    return sbi_exchange_add_header(exchange, line, err);
}

int sbi_rpc_headers(struct sbi_exchange *exchange, const struct sbi_address *address,
                    const char *user, sb_error *err) {
    if (sbi_exchange_add_header(exchange, "Connect-Protocol-Version: 1", err) != 0) {
        return -1;
    }
    if (user == NULL) {
        user = knows_default_user(address) ? NULL : "user";
    }
    return user == NULL ? 0 : add_user(exchange, user, err);
}

int sbi_rpc_request_text(struct sbi_exchange *exchange, const struct sbi_address *address,
                         const char *user, const char *path, char *message, size_t length,
                         sb_error *err) {
    if (message == NULL) {
        return sbi_no_memory(err);
    }
    if (sbi_exchange_to_sandbox(exchange, address, SBI_PORT_ENVD, "POST", path, err) != 0 ||
        sbi_rpc_headers(exchange, address, user, err) != 0) {
        free(message);
        return -1;
    }
    return sbi_exchange_set_body(exchange, message, length, "application/json", err);
}

int sbi_rpc_request(struct sbi_exchange *exchange, const struct sbi_address *address,
                    const char *user, const char *path, json_t *message, sb_error *err) {
    if (message == NULL) {
        return sbi_fail(err, SB_INVALID, "a string that is not UTF-8");
    }
    char *text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    return sbi_rpc_request_text(exchange, address, user, path, text,
                                text != NULL ? strlen(text) : 0, err);
}

sb_op *sbi_rpc_start(sb_op *op, sb_box *box, const char *user, const char *path, json_t *message,
                     void (*done)(void *op, struct sbi_exchange *exchange), sb_error *err) {
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, done, err);
    if (exchange == NULL) {
        json_decref(message);
        sb_op_free(op);
        return NULL;
    }
    if (sbi_rpc_request(exchange, &box->address, user, path, message, err) != 0) {
        sb_op_free(op);
        return NULL;
    }
    sbi_op_send(op, SBI_OP_REQUEST);
    return op;
}

json_t *sbi_rpc_answer(const struct sbi_exchange *exchange, sb_code missing, sb_error *err) {
    if (sbi_rpc_check(exchange, missing, err) != 0) {
        return NULL;
    }
    json_t *answer = sbi_exchange_json(exchange, err);
    if (answer != NULL && !json_is_object(answer)) {
        json_decref(answer);
        sbi_fail_status(err, SB_PROTOCOL, exchange->status, "the server's answer is no object");
        return NULL;
    }
    return answer;
}
