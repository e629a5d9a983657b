/* What goes to a process: bytes for its stdin or its terminal, the end of its stdin, the size of
 * its terminal. */
#include "base64.h"
#include "command_request.h"
#include "rpc.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SEND (4u * 1024 * 1024)

/* A process that has closed what it would read from, or has just ended. */
static bool is_broken(const sb_error *error) {
    return strstr(error->message, "broken pipe") != NULL ||
           strstr(error->message, "file already closed") != NULL ||
           strstr(error->message, "input/output error") != NULL ||
           strstr(error->message, "bad file descriptor") != NULL;
}

/* A process without an open stdin, or with a terminal instead, or without one. */
static bool has_no_such_input(const sb_error *error) {
    return strstr(error->message, "stdin not enabled") != NULL ||
           strstr(error->message, "tty assigned") != NULL ||
           strstr(error->message, "tty not assigned") != NULL ||
           strstr(error->message, "for PTY process") != NULL;
}

static void on_done(void *user, struct sbi_exchange *exchange) {
    sb_op *op = user;
    sb_error error = {0};
    json_decref(sbi_rpc_answer(exchange, SB_PROCESS_GONE, &error));
    /* Servers that have no better code for it. */
    if (error.code == SB_UNAVAILABLE && exchange->error.code == SB_OK) {
        error.code = is_broken(&error)           ? SB_PROCESS_GONE
                     : has_no_such_input(&error) ? SB_INVALID
                                                 : error.code;
    }
    sbi_box_explain_closed(op->data, &error);
    sbi_op_finish(op, &error);
}

/* Takes the reference to message. */
static sb_op *call(sb_box *box, const struct sbi_op_kind *kind, const char *path, json_t *message,
                   sb_error *err) {
    sb_op *op = message != NULL ? sbi_box_op(box, kind, err) : NULL;
    if (op == NULL || op->done) {
        json_decref(message);
        return op;
    }
    return sbi_rpc_start(op, box, NULL, path, message, on_done, err);
}

/* {"process": SELECTOR} with one member more, whose reference is taken (name NULL: without). */
static json_t *message_of(const sb_process *process, const char *name, json_t *value,
                          sb_error *err) {
    json_t *selector = sbi_process_selector(process, err);
    if (selector == NULL) {
        json_decref(value);
        return NULL;
    }
    json_t *message = name != NULL ? json_pack("{s:o, s:o}", "process", selector, name, value)
                                   : json_pack("{s:o}", "process", selector);
    if (message == NULL) {
        sbi_no_memory(err);
    }
    return message;
}

static json_t *input_of(const char *bytes, size_t length, bool to_terminal) {
    char *text = malloc(sbi_base64_length(length) + 1);
    if (text == NULL) {
        return NULL;
    }
    size_t written = sbi_base64_encode(bytes, length, text);
    json_t *input = json_pack("{s:s%}", to_terminal ? "pty" : "stdin", text, written);
    free(text);
    return input;
}

static const struct sbi_op_kind send_kind = {.name = "send", .release = sbi_box_op_release};

sb_op *sb_process_send(sb_box *box, const sb_process *process, const char *bytes, size_t length,
                       bool to_terminal, sb_error *err) {
    if (bytes == NULL && length > 0) {
        sbi_fail(err, SB_INVALID, "bytes: is NULL");
        return NULL;
    }
    if (length > MAX_SEND) {
        sbi_fail(err, SB_TOO_LARGE, "more than %u bytes at once", MAX_SEND);
        return NULL;
    }
    json_t *input = input_of(bytes, length, to_terminal);
    return call(box, &send_kind, "/process.Process/SendInput",
                message_of(process, "input", input, err), err);
}

static const struct sbi_op_kind close_kind = {.name = "close stdin", .release = sbi_box_op_release};

sb_op *sb_process_close_stdin(sb_box *box, const sb_process *process, sb_error *err) {
    return call(box, &close_kind, "/process.Process/CloseStdin",
                message_of(process, NULL, NULL, err), err);
}

static const struct sbi_op_kind resize_kind = {.name = "resize", .release = sbi_box_op_release};

sb_op *sb_process_resize(sb_box *box, const sb_process *process, unsigned cols, unsigned rows,
                         sb_error *err) {
    if (sbi_check_terminal_size(cols, rows, err) != 0) {
        return NULL;
    }
    return call(box, &resize_kind, "/process.Process/Update",
                message_of(process, "pty", sbi_terminal_size(cols, rows), err), err);
}
