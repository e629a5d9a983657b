/* context_call.c - restarts, removes and interrupts one context. */
#include "box.h"
#include "sandbox.h"
#include "text.h"
#include "wire.h"

#include <string.h>

static void finish(sb_op *op, sb_error *error) {
    sbi_box_explain_closed(op->data, error);
    sbi_op_finish(op, error);
}

static void on_plain(void *user, struct sbi_exchange *exchange) {
    sb_error error = {0};
    sbi_exchange_check(exchange, &error);
    finish(user, &error);
}

/* "/contexts/ID" and `below`. */
static int describe(struct sbi_exchange *exchange, const sb_box *box, const char *method,
                    const char *id, const char *below, sb_error *err) {
    struct sbi_buffer path;
    sbi_buffer_init(&path, 4096);
    sb_code code = sbi_buffer_append_string(&path, "/contexts/");
    if (code == SB_OK) {
        code = sbi_percent_encode(&path, id, strlen(id));
    }
    if (code == SB_OK) {
        code = sbi_buffer_append_string(&path, below);
    }
    int status = code == SB_OK ? sbi_exchange_to_sandbox(exchange, &box->address, SBI_PORT_CODE,
                                                         method, path.data, err)
                               : sbi_fail(err, SB_INVALID, "context: not a context's id");
    sbi_buffer_free(&path);
    /* Else libcurl would say that nothing is a form. */
    return status == 0 ? sbi_exchange_add_header(exchange, "Content-Type:", err) : -1;
}

/* These are taken out of a path, however they are written: another call would be left. */
static bool is_dots(const char *id) {
    return strcmp(id, ".") == 0 || strcmp(id, "..") == 0;
}

static sb_op *call(sb_box *box, const struct sbi_op_kind *kind, const char *method, const char *id,
                   const char *below, void (*done)(void *, struct sbi_exchange *), sb_error *err) {
    if (id == NULL || id[0] == '\0') {
        sbi_fail(err, SB_INVALID, "context: not a context's id");
        return NULL;
    }
    if (is_dots(id)) {
        sbi_fail(err, SB_NOT_FOUND, "%s: no context has such an id", kind->name);
        return NULL;
    }
    sb_op *op = sbi_box_op(box, kind, err);
    if (op == NULL || op->done) {
        return op;
    }
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, done, err);
    return sbi_send_or_drop(op, exchange == NULL ? -1
                                                 : describe(exchange, box, method, id, below, err));
}

static const struct sbi_op_kind restart_kind = {.name = "restart context",
                                                .release = sbi_box_op_release};

sb_op *sb_box_restart_context(sb_box *box, const char *id, sb_error *err) {
    return call(box, &restart_kind, "POST", id, "/restart", on_plain, err);
}

static const struct sbi_op_kind remove_kind = {.name = "remove context",
                                               .release = sbi_box_op_release};

sb_op *sb_box_remove_context(sb_box *box, const char *id, sb_error *err) {
    return call(box, &remove_kind, "DELETE", id, "", on_plain, err);
}

/* A server that has no such call answers 404 too; one that has it names the context. */
static bool has_no_call(const struct sbi_exchange *exchange) {
    const char *body = sbi_buffer_string(&exchange->answer);
    bool names_context = strncmp(body, "Context ", 8) == 0 && strstr(body, " not found") != NULL;
    return exchange->status == 405 || (exchange->status == 404 && !names_context);
}

static void on_interrupted(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    if (exchange->error.code == SB_OK && has_no_call(exchange)) {
        sbi_fail_status(&error, SB_UNSUPPORTED, exchange->status,
                        "this server cannot interrupt code");
    } else {
        json_t *answer = sbi_exchange_json(exchange, &error);
        op->flag = json_is_true(json_object_get(answer, "interrupted"));
        json_decref(answer);
    }
    finish(op, &error);
}

static const struct sbi_op_kind interrupt_kind = {.name = "interrupt",
                                                  .release = sbi_box_op_release};

sb_op *sb_box_interrupt(sb_box *box, const char *id, sb_error *err) {
    const char *whose = id == NULL || id[0] == '\0' ? "default" : id;
    return call(box, &interrupt_kind, "POST", whose, "/interrupt", on_interrupted, err);
}
