#include "setup.h"

#include "base64.h"
#include "text.h"
#include "timestamp.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAME (16u * 1024 * 1024)

void sbi_setup_init(struct sbi_setup *setup, struct sbi_events *events) {
    *setup = (struct sbi_setup){.events = events};
    sbi_frames_init(&setup->frames, MAX_FRAME);
    sbi_buffer_init(&setup->out, SBI_MAX_SETUP_OUTPUT);
    sbi_buffer_init(&setup->err, SBI_MAX_SETUP_OUTPUT);
}

void sbi_setup_free(struct sbi_setup *setup) {
    sbi_frames_free(&setup->frames);
    sbi_buffer_free(&setup->out);
    sbi_buffer_free(&setup->err);
}

int sbi_setup_request(struct sbi_exchange *exchange, const struct sbi_address *address,
                      const char *command, sb_error *err) {
    static const char *const headers[] = {"Connect-Protocol-Version: 1",
                                          "Keepalive-Ping-Interval: 50",
                                          "Authorization: Basic dXNlcjo=" /* "user:" */};
    if (sbi_exchange_to_sandbox(exchange, address, SBI_PORT_ENVD, "POST", "/process.Process/Start",
                                err) != 0) {
        return -1;
    }
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        if (sbi_exchange_add_header(exchange, headers[i], err) != 0) {
            return -1;
        }
    }
    json_t *message = json_pack("{s:{s:s, s:[s, s, s], s:{}}, s:b}", "process", "cmd", "/bin/bash",
                                "args", "-l", "-c", command, "envs", "stdin", 0);
    char *text = message != NULL ? json_dumps(message, JSON_COMPACT) : NULL;
    json_decref(message);
    size_t length = text != NULL ? strlen(text) : 0;
    char *body = text != NULL ? malloc(SBI_FRAME_HEADER + length) : NULL;
    if (body == NULL) {
        free(text);
        return sbi_no_memory(err);
    }
    sbi_frame_header((unsigned char *)body, 0, length);
    memcpy(body + SBI_FRAME_HEADER, text, length);
    free(text);
    return sbi_exchange_set_body(exchange, body, SBI_FRAME_HEADER + length,
                                 "application/connect+json", err);
}

/* Keeps what fits. */
static int keep(struct sbi_buffer *buffer, const char *bytes, size_t length) {
    size_t room = buffer->max - buffer->length;
    return sbi_buffer_append(buffer, bytes, length < room ? length : room) == SB_OK ? 0 : -1;
}

static int take_output(struct sbi_setup *setup, sb_stream stream, const json_t *value,
                       sb_error *err) {
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    unsigned char *bytes = text != NULL ? malloc(sbi_base64_room(length)) : NULL;
    if (bytes == NULL) {
        return text != NULL ? sbi_no_memory(err)
                            : sbi_fail(err, SB_PROTOCOL, "output that is no string");
    }
    ssize_t decoded = sbi_base64_decode(text, length, bytes);
    int status = 0;
    if (decoded < 0) {
        status = sbi_fail(err, SB_PROTOCOL, "output that is no base64");
    } else if (keep(stream == SB_STDOUT ? &setup->out : &setup->err, (char *)bytes,
                    (size_t)decoded) != 0 ||
               (setup->events != NULL &&
                sbi_events_add_output(setup->events, stream, sbi_wall_clock(), (char *)bytes,
                                      (size_t)decoded) != 0)) {
        status = sbi_no_memory(err);
    }
    free(bytes);
    return status;
}

static void take_end(struct sbi_setup *setup, const json_t *end) {
    const char *error = json_string_value(json_object_get(end, "error"));
    const char *status = json_string_value(json_object_get(end, "status"));
    setup->has_ended = true;
    /* proto3's JSON leaves out what has its default. */
    setup->exit_code = (int)json_integer_value(json_object_get(end, "exitCode"));
    if (setup->exit_code > 0) {
        return; /* the error only says the number again */
    }
    if (error != NULL && error[0] != '\0') {
        snprintf(setup->why, sizeof setup->why, "%s", error);
    } else if (setup->exit_code < 0) {
        snprintf(setup->why, sizeof setup->why, "%s", status != NULL ? status : "a signal");
    }
}

static int take_event(struct sbi_setup *setup, const json_t *event, sb_error *err) {
    const json_t *data = json_object_get(event, "data"), *end = json_object_get(event, "end");
    const json_t *out = json_object_get(data, "stdout"), *error = json_object_get(data, "stderr");
    if (out != NULL && take_output(setup, SB_STDOUT, out, err) != 0) {
        return -1;
    }
    if (error != NULL && take_output(setup, SB_STDERR, error, err) != 0) {
        return -1;
    }
    if (end != NULL) {
        take_end(setup, end);
    }
    return 0;
}

/* Connect's error codes. */
static sb_code code_of(const char *name) {
    static const struct {
        const char *name;
        sb_code code;
    } codes[] = {{"invalid_argument", SB_INVALID},        {"not_found", SB_NOT_FOUND},
                 {"permission_denied", SB_UNAUTHORIZED},  {"unauthenticated", SB_UNAUTHORIZED},
                 {"resource_exhausted", SB_RATE_LIMITED}, {"unimplemented", SB_UNSUPPORTED},
                 {"deadline_exceeded", SB_TIMEOUT}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(codes[i].name, name) == 0) {
            return codes[i].code;
        }
    }
    return SB_UNAVAILABLE;
}

static void take_error(struct sbi_setup *setup, const json_t *error) {
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    if (error != NULL) {
        code = code != NULL ? code : "unknown";
        sbi_fail(&setup->error, code_of(code), "%s", message != NULL ? message : code);
    }
}

static int take_frame(struct sbi_setup *setup, const struct sbi_frame *frame, sb_error *err) {
    if (frame->flags & SBI_FRAME_COMPRESSED) {
        return sbi_fail(err, SB_PROTOCOL, "a compressed message that was not asked for");
    }
    json_t *root = json_loadb(frame->payload, frame->length, 0, NULL);
    if (!json_is_object(root)) {
        char begin[80];
        json_decref(root);
        return sbi_fail(err, SB_PROTOCOL, "a message that is no JSON, it begins with \"%s\"",
                        sbi_text_excerpt(begin, sizeof begin, frame->payload, frame->length));
    }
    int status = 0;
    if (frame->flags & SBI_FRAME_END) {
        take_error(setup, json_object_get(root, "error"));
    } else {
        status = take_event(setup, json_object_get(root, "event"), err);
    }
    json_decref(root);
    return status;
}

int sbi_setup_data(struct sbi_setup *setup, const char *bytes, size_t length, sb_error *err) {
    struct sbi_frame frame;
    for (;;) {
        switch (sbi_frames_next(&setup->frames, &bytes, &length, &frame)) {
        case SBI_PARSE_MORE:
            return 0;
        case SBI_PARSE_TOO_LARGE:
            return sbi_fail(err, SB_TOO_LARGE, "a message of more than %u bytes", MAX_FRAME);
        case SBI_PARSE_NO_MEMORY:
            return sbi_no_memory(err);
        case SBI_PARSE_ITEM:
            if (take_frame(setup, &frame, err) != 0) {
                return -1;
            }
        }
    }
}

/* The last line with something in it. */
static const char *last_line(const struct sbi_buffer *output, size_t *length) {
    const char *text = sbi_buffer_string(output);
    size_t end = output->length;
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == '\r' || text[end - 1] == ' ')) {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && text[begin - 1] != '\n') {
        begin--;
    }
    *length = end - begin;
    return text + begin;
}

static int fail_command(const struct sbi_setup *setup, const char *command, sb_error *err) {
    char begin[120], said[200];
    size_t length;
    const char *line = last_line(&setup->err, &length);
    sbi_text_excerpt(begin, sizeof begin, command, strlen(command));
    sbi_text_excerpt(said, sizeof said, line, length);
    const char *between = length > 0 ? ": " : "";
    if (setup->why[0] != '\0') {
        return sbi_fail(err, SB_SETUP_FAILED, "\"%s\" ended by %s%s%s", begin, setup->why, between,
                        said);
    }
    return sbi_fail(err, SB_SETUP_FAILED, "\"%s\" exited with %d%s%s", begin, setup->exit_code,
                    between, said);
}

int sbi_setup_result(const struct sbi_setup *setup, const struct sbi_exchange *exchange,
                     const char *command, sb_error *err) {
    if (setup->has_ended) {
        bool is_success = setup->exit_code == 0 && setup->why[0] == '\0';
        return is_success ? 0 : fail_command(setup, command, err);
    }
    if (exchange->was_cut) {
        return sbi_fail(err, SB_SANDBOX_LOST, "the connection was cut while \"%.100s\" ran",
                        command);
    }
    if (sbi_exchange_check(exchange, err) != 0) {
        return -1;
    }
    if (setup->error.code != SB_OK) {
        *err = setup->error;
        return -1;
    }
    return sbi_fail(err, exchange->is_framed ? SB_PROTOCOL : SB_SANDBOX_LOST,
                    "the answer ended before \"%.100s\" did", command);
}
