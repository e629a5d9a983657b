/* engine_call.c - the local engine as such: what it does, and that it shall leave. */
#include "client.h"
#include "json_answer.h"
#include "sandbox.h"
#include "stepbox_engine.h"

static void on_answer(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    sbi_keep_json_answer(op, exchange, &error);
    sbi_op_finish(op, &error);
}

static sb_op *call(sb_client *client, const struct sbi_op_kind *kind, const char *method,
                   const char *path, bool may_start, sb_error *err) {
    if (!client->config->local) {
        sbi_fail(err, SB_UNSUPPORTED, "this client uses a server, not the local engine");
        return NULL;
    }
    sb_op *op = sbi_op_new(client->loop, kind, err);
    if (op == NULL) {
        return NULL;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, client->config, on_answer, err);
    int described = exchange == NULL ? -1 : sbi_exchange_to_control(exchange, method, path, err);
    if (exchange != NULL) {
        exchange->may_start_engine = may_start;
    }
    return sbi_send_or_drop(op, described);
}

static const struct sbi_op_kind status_kind = {.name = "engine"};

sb_op *sb_engine_status(sb_client *client, bool may_start, sb_error *err) {
    return call(client, &status_kind, "GET", "/engine", may_start, err);
}

static const struct sbi_op_kind stop_kind = {.name = "stop engine"};

sb_op *sb_engine_stop(sb_client *client, bool force, sb_error *err) {
    return call(client, &stop_kind, "DELETE", force ? "/engine?force=true" : "/engine", false, err);
}
