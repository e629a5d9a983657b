#include "command_request.h"
#include "rpc.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Those of the protocol; others are our agent's extension. */
static bool is_common(int number) {
    return number == SIGTERM || number == SIGKILL;
}

static void finish(sb_op *op, const struct sbi_exchange *exchange, bool is_extension) {
    sb_error error = {0};
    json_decref(sbi_rpc_answer(exchange, SB_PROCESS_GONE, &error));
    if (is_extension && sbi_rpc_says(exchange, "invalid_argument")) {
        /* To such a server the name is a value that the enumeration does not have. */
        sbi_fail_status(&error, SB_UNSUPPORTED, exchange->status,
                        "this server knows SIGTERM and SIGKILL alone");
    }
    sbi_box_explain_closed(op->data, &error);
    sbi_op_finish(op, &error);
}

static void on_signalled(void *user, struct sbi_exchange *exchange) {
    finish(user, exchange, false);
}

static void on_extension_signalled(void *user, struct sbi_exchange *exchange) {
    finish(user, exchange, true);
}

static const struct sbi_op_kind signal_kind = {.name = "signal", .release = sbi_box_op_release};

static json_t *message_of(const sb_process *process, int number, sb_error *err) {
    char name[32];
    const char *short_name = number > 0 ? sigabbrev_np(number) : NULL;
    if (short_name == NULL) {
        sbi_fail(err, SB_INVALID, "signal: %d is none", number);
        return NULL;
    }
    snprintf(name, sizeof name, "SIGNAL_SIG%s", short_name);
    json_t *selector = sbi_process_selector(process, err);
    return selector != NULL ? json_pack("{s:o, s:s}", "process", selector, "signal", name) : NULL;
}

sb_op *sb_process_signal(sb_box *box, const sb_process *process, int signal, sb_error *err) {
    json_t *message = message_of(process, signal, err);
    sb_op *op = message != NULL ? sbi_box_op(box, &signal_kind, err) : NULL;
    if (op == NULL || op->done) {
        json_decref(message);
        return op;
    }
    return sbi_rpc_start(op, box, NULL, SBI_PATH_SIGNAL, message,
                         is_common(signal) ? on_signalled : on_extension_signalled, err);
}
