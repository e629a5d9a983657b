#include "command_output.h"

#include "base64.h"
#include "dropped.h"
#include "process_event.h"
#include "timestamp.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Memory for a decoded piece that is kept for the next one. */
#define KEEP_PIECE (256u * 1024)

static sbi_rpc_message take_message;

void sbi_command_output_init(struct sbi_command_output *output, uint64_t max_output,
                             struct sbi_events *events, sb_code missing) {
    size_t max = max_output < SIZE_MAX / 4 ? (size_t)max_output : SIZE_MAX / 4;
    *output = (struct sbi_command_output){.events = events, .exit_code = -1};
    sbi_rpc_stream_init(&output->stream, take_message, output, missing, "the command's end");
    sbi_buffer_init(&output->out, max);
    sbi_buffer_init(&output->err, max);
    sbi_buffer_init(&output->piece, SBI_MAX_MESSAGE);
}

void sbi_command_output_free(struct sbi_command_output *output) {
    sbi_rpc_stream_free(&output->stream);
    sbi_buffer_free(&output->out);
    sbi_buffer_free(&output->err);
    sbi_buffer_free(&output->piece);
}

static int deliver(struct sbi_command_output *output, sb_stream stream, const char *bytes,
                   size_t length, sb_error *err) {
    if (output->events == NULL || length == 0) {
        return 0;
    }
    return sbi_events_add_output(output->events, stream, sbi_wall_clock(), bytes, length) == 0
               ? 0
               : sbi_no_memory(err);
}

/* Appends what base64 text stands for: 1: done, 0: it is no base64, -1: err. */
static int decode_into(struct sbi_buffer *buffer, const char *text, size_t length, sb_error *err) {
    if (sbi_buffer_reserve(buffer, sbi_base64_room(length)) != SB_OK) {
        return sbi_no_memory(err);
    }
    char *to = buffer->data + buffer->length;
    ssize_t decoded = sbi_base64_decode(text, length, (unsigned char *)to);
    buffer->length += decoded > 0 ? (size_t)decoded : 0;
    buffer->data[buffer->length] = '\0';
    return decoded >= 0;
}

/* Keeps what fits. */
static int keep_piece(struct sbi_buffer *kept, bool *truncated, const struct sbi_buffer *piece,
                      sb_error *err) {
    size_t room = *truncated ? 0 : kept->max - kept->length;
    size_t length = piece->length;
    if (length > room) {
        *truncated = true;
        length = room;
    }
    return length == 0 || sbi_buffer_append(kept, piece->data, length) == SB_OK
               ? 0
               : sbi_no_memory(err);
}

/* 1: taken, 0: the text is no base64, -1: err. */
static int take_output(struct sbi_command_output *output, sb_stream stream, const char *text,
                       size_t length, sb_error *err) {
    bool is_err = stream == SB_STDERR;
    struct sbi_buffer *kept = is_err ? &output->err : &output->out;
    bool *truncated = is_err ? &output->err_truncated : &output->out_truncated;
    if (!*truncated && sbi_base64_room(length) <= kept->max - kept->length) {
        /* Straight to where it stays. */
        size_t before = kept->length;
        int status = decode_into(kept, text, length, err);
        if (status > 0 &&
            deliver(output, stream, kept->data + before, kept->length - before, err) != 0) {
            return -1;
        }
        return status;
    }
    sbi_buffer_clear(&output->piece, KEEP_PIECE);
    int status = decode_into(&output->piece, text, length, err);
    if (status > 0 && (keep_piece(kept, truncated, &output->piece, err) != 0 ||
                       deliver(output, stream, sbi_buffer_string(&output->piece),
                               output->piece.length, err) != 0)) {
        return -1;
    }
    return status;
}

static int take_data(struct sbi_command_output *output, const json_t *data, sb_error *err) {
    static const struct {
        const char *name;
        sb_stream stream;
    } streams[] = {{"stdout", SB_STDOUT}, {"stderr", SB_STDERR}, {"pty", SB_PTY}};
    if (sbi_dropped_take(data, &output->dropped, &output->out_truncated, &output->err_truncated)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        const json_t *value = json_object_get(data, streams[i].name);
        if (value == NULL || json_is_null(value)) {
            continue;
        }
        if (!json_is_string(value)) {
            return sbi_fail(err, SB_PROTOCOL, "output that is no string");
        }
        int taken = take_output(output, streams[i].stream, json_string_value(value),
                                json_string_length(value), err);
        if (taken <= 0) {
            return taken < 0 ? -1 : sbi_fail(err, SB_PROTOCOL, "output that is no base64");
        }
    }
    return 0;
}

/* proto3's JSON leaves out what has its default: exit code 0, and `exited` when it is false. */
static void take_end(struct sbi_command_output *output, const json_t *end) {
    const char *error = json_string_value(json_object_get(end, "error"));
    const char *status = json_string_value(json_object_get(end, "status"));
    json_int_t code = json_integer_value(json_object_get(end, "exitCode"));
    error = error != NULL ? error : "";
    status = status != NULL ? status : "";
    output->has_ended = true;
    bool says_so = json_is_true(json_object_get(end, "exited")) || code > 0 ||
                   strncmp(status, "exit status", 11) == 0 ||
                   (code == 0 && status[0] == '\0' && error[0] == '\0');
    output->has_exited = says_so && code >= 0 && code <= INT_MAX;
    if (output->has_exited) {
        output->exit_code = (int)code;
        return;
    }
    snprintf(output->how, sizeof output->how, "%s",
             status[0] != '\0'  ? status
             : error[0] != '\0' ? error
                                : "a signal");
}

static int take_message(void *user, const char *json, size_t length, sb_error *err) {
    struct sbi_command_output *output = user;
    struct sbi_process_data piece;
    if (output->has_ended) {
        return 0; /* nothing can follow the end */
    }
    if (sbi_process_data_read(json, length, &piece)) {
        int taken = take_output(output, piece.stream, piece.text, piece.length, err);
        if (taken != 0) {
            return taken < 0 ? -1 : 0;
        }
    }
    json_t *root = sbi_rpc_message_parse(json, length, err);
    if (root == NULL) {
        return -1;
    }
    const json_t *event = json_object_get(root, "event"), *end = json_object_get(event, "end");
    const json_t *pid = json_object_get(json_object_get(event, "start"), "pid");
    if (json_is_integer(pid) && json_integer_value(pid) > 0) {
        output->pid = json_integer_value(pid);
    }
    int status = take_data(output, json_object_get(event, "data"), err);
    if (status == 0 && json_is_object(end)) {
        take_end(output, end);
    }
    /* Keepalives, and events that do not exist yet, say nothing here. */
    json_decref(root);
    return status;
}

int sbi_command_output_data(struct sbi_command_output *output, const struct sbi_exchange *exchange,
                            const char *bytes, size_t length, sb_error *err) {
    return sbi_rpc_stream_data(&output->stream, exchange, bytes, length, err);
}

int sbi_command_output_result(const struct sbi_command_output *output,
                              const struct sbi_exchange *exchange, sb_error *err) {
    if (output->has_ended) {
        return 0;
    }
    if (sbi_rpc_stream_result(&output->stream, exchange, err) != 0) {
        return -1;
    }
    return sbi_fail_status(err, SB_PROTOCOL, exchange->status,
                           "the answer ended before the command's end");
}

const sb_command_result *sbi_command_output_view(struct sbi_command_output *output,
                                                 const char *command) {
    output->view = (sb_command_result){.command = command,
                                       .exit_code = output->exit_code,
                                       .how = output->how[0] != '\0' ? output->how : NULL,
                                       .out = sbi_buffer_string(&output->out),
                                       .err = sbi_buffer_string(&output->err),
                                       .out_length = output->out.length,
                                       .err_length = output->err.length,
                                       .out_truncated = output->out_truncated,
                                       .err_truncated = output->err_truncated,
                                       .dropped = output->dropped};
    return &output->view;
}
