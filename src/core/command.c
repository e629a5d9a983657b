#include "command_request.h"
#include "process_follow.h"

#include <math.h>

/* The server kills at the deadline and says so; it has this long for that. Seconds. */
#define GRACE_SECONDS 5.0

static const struct sbi_op_kind command_kind = {.name = "command",
                                                .cancelling = sbi_follow_cancelling,
                                                .cancelled = sbi_follow_cancelled,
                                                .release = sbi_follow_release,
                                                .command = sbi_follow_command};

static double timeout_of(const sb_command_options *options) {
    if (options->timeout != 0) {
        return options->timeout;
    }
    return options->detached ? INFINITY : SB_DEFAULT_COMMAND_TIMEOUT;
}

static sb_op *start(sb_op *op, json_t *message, const sb_command_options *options, sb_error *err) {
    struct sbi_exchange *exchange = sbi_follow_exchange(op, SBI_PATH_START, message, err);
    int status = exchange != NULL ? sbi_command_timeout(exchange, timeout_of(options), err) : -1;
    if (status == 0 && !options->detached) {
        /* Our agent then ends the process when this request is left. */
        status = sbi_exchange_add_header(exchange, "Stepbox-Bound: 1", err);
    }
    if (status != 0) {
        sb_op_free(op);
        return NULL;
    }
    sbi_op_send(op, SBI_OP_STREAM);
    return op;
}

sb_op *sb_command(sb_box *box, const char *command, const sb_command_options *options,
                  sb_error *err) {
    static const sb_command_options defaults;
    options = options != NULL ? options : &defaults;
    json_t *message = sbi_command_message(command, options, err);
    if (message == NULL) {
        return NULL;
    }
    const struct sbi_follow_options follow = {.command = command != NULL ? command : "",
                                              .user = options->user,
                                              .timeout = timeout_of(options),
                                              .grace = GRACE_SECONDS,
                                              .max_output = options->max_output,
                                              .events = options->events,
                                              .is_bound = !options->detached,
                                              .missing = SB_NOT_FOUND};
    sb_op *op = sbi_follow_new(box, &command_kind, &follow, err);
    if (op == NULL || op->done) {
        json_decref(message);
        return op;
    }
    return start(op, message, options, err);
}
