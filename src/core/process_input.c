/* What goes to a process: bytes for its stdin or its terminal, the end of its stdin, the size of
 * its terminal. */
#include "base64.h"
#include "command_request.h"
#include "rpc.h"
#include "sandbox.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SEND (4u * 1024 * 1024)

/* A process that has closed what it would read from, or has just ended. */
static bool is_broken(const sb_error *error) {
    return strstr(error->message, "broken pipe") != NULL ||
           strstr(error->message, "does not read its input") != NULL ||
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
    if ((error.code == SB_UNAVAILABLE || error.code == SB_INVALID) &&
        exchange->error.code == SB_OK) {
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

/* {"process": SELECTOR, "input": {"stdin": BASE64}} as text, the caller's to free; NULL without
 * memory. */
static char *input_text(const json_t *selector, const char *bytes, size_t length, bool to_terminal,
                        size_t *text_length) {
    struct sbi_buffer text;
    sbi_buffer_init(&text, SIZE_MAX / 2);
    char *process = json_dumps(selector, JSON_COMPACT);
    if (process == NULL || sbi_buffer_append_string(&text, "{\"process\":") != SB_OK ||
        sbi_buffer_append_string(&text, process) != SB_OK ||
        sbi_buffer_append_string(&text, to_terminal ? ",\"input\":{\"pty\":\""
                                                    : ",\"input\":{\"stdin\":\"") != SB_OK ||
        sbi_buffer_reserve(&text, sbi_base64_length(length) + 3) != SB_OK) {
        free(process);
        sbi_buffer_free(&text);
        return NULL;
    }
    free(process);
    text.length += sbi_base64_encode(bytes, length, text.data + text.length);
    sbi_buffer_append_string(&text, "\"}}");
    *text_length = text.length;
    return sbi_buffer_take(&text);
}

static const struct sbi_op_kind send_kind = {.name = "send", .release = sbi_box_op_release};

/* Takes the reference to selector. */
static sb_op *start_send(sb_op *op, sb_box *box, json_t *selector, const char *bytes, size_t length,
                         bool to_terminal, double timeout, sb_error *err) {
    size_t text_length = 0;
    char *text = input_text(selector, bytes, length, to_terminal, &text_length);
    json_decref(selector);
    struct sbi_exchange *exchange = sbi_op_exchange(op, box->config, on_done, err);
    if (exchange == NULL) {
        free(text);
        return sbi_send_or_drop(op, -1);
    }
    if (timeout > 0) {
        exchange->timeout = timeout;
    }
    return sbi_send_or_drop(op, sbi_rpc_request_text(exchange, &box->address, NULL,
                                                     "/process.Process/SendInput", text,
                                                     text_length, err));
}

sb_op *sb_process_send(sb_box *box, const sb_process *process, const char *bytes, size_t length,
                       bool to_terminal, double timeout, sb_error *err) {
    if (!(timeout >= 0)) {
        sbi_fail(err, SB_INVALID, "timeout: must be more than 0 seconds");
        return NULL;
    }
    if (bytes == NULL && length > 0) {
        sbi_fail(err, SB_INVALID, "bytes: is NULL");
        return NULL;
    }
    if (length > MAX_SEND) {
        sbi_fail(err, SB_TOO_LARGE, "more than %u bytes at once", MAX_SEND);
        return NULL;
    }
    json_t *selector = sbi_process_selector(process, err);
    sb_op *op = selector != NULL ? sbi_box_op(box, &send_kind, err) : NULL;
    if (op == NULL || op->done) {
        json_decref(selector);
        return op;
    }
    return start_send(op, box, selector, bytes, length, to_terminal, timeout, err);
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
