#include "command_request.h"
#include "process_follow.h"

#include <math.h>

static const struct sbi_op_kind connect_kind = {.name = "connect to a process",
                                                .cancelling = sbi_follow_cancelling,
                                                .cancelled = sbi_follow_cancelled,
                                                .release = sbi_follow_release,
                                                .command = sbi_follow_command};

sb_op *sb_process_connect(sb_box *box, const sb_process *process,
                          const sb_process_connect_options *options, sb_error *err) {
    static const sb_process_connect_options defaults;
    options = options != NULL ? options : &defaults;
    json_t *selector = sbi_process_selector(process, err);
    json_t *message = selector != NULL ? json_pack("{s:o}", "process", selector) : NULL;
    if (message == NULL) {
        return NULL;
    }
    const struct sbi_follow_options follow = {.timeout = options->timeout != 0 ? options->timeout
                                                                               : INFINITY,
                                              .max_output = options->max_output,
                                              .events = options->events,
                                              .missing = SB_PROCESS_GONE};
    sb_op *op = sbi_follow_new(box, &connect_kind, &follow, err);
    if (op == NULL || op->done) {
        json_decref(message);
        return op;
    }
    if (sbi_follow_exchange(op, "/process.Process/Connect", message, err) == NULL) {
        sb_op_free(op);
        return NULL;
    }
    sbi_op_send(op, SBI_OP_STREAM);
    return op;
}
