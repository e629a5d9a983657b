/* connect_messages.c - see connect_messages.h */
#include "connect_messages.h"

#include "json_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_SIZE 5

connect_result connect_frame_parse(const char *bytes, size_t length, const char **message,
                                   size_t *message_length) {
    const unsigned char *head = (const unsigned char *)bytes;
    if (length < HEAD_SIZE)
        return CONNECT_SHORT;
    if (head[0] != 0)
        return CONNECT_BAD;
    *message_length = (size_t)((uint32_t)head[1] << 24 | (uint32_t)head[2] << 16 |
                               (uint32_t)head[3] << 8 | head[4]);
    *message = bytes + HEAD_SIZE;
    return length - HEAD_SIZE < *message_length ? CONNECT_SHORT : CONNECT_OK;
}

int connect_frame_send(http_stream *stream, int flags, json_t *message) {
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    json_decref(message);
    if (!text)
        return -1;
    size_t length = strlen(text);
    unsigned char head[HEAD_SIZE] = {(unsigned char)flags, (unsigned char)(length >> 24),
                                     (unsigned char)(length >> 16), (unsigned char)(length >> 8),
                                     (unsigned char)length};
    http_stream_write(stream, head, sizeof head);
    http_stream_write(stream, text, length);
    free(text);
    return 0;
}

json_t *connect_error(const char *code, const char *message) {
    /* The message may quote what a client sent, or a part of it, or names of files. */
    return json_pack("{s:s, s:o}", "code", code, "message", json_text(message, strlen(message)));
}

static int http_status(const char *code) {
    static const struct {
        const char *code;
        int status;
    } statuses[] = {
        {"canceled", 499},
        {"unknown", 500},
        {"invalid_argument", 400},
        {"deadline_exceeded", 504},
        {"not_found", 404},
        {"already_exists", 409},
        {"permission_denied", 403},
        {"resource_exhausted", 429},
        {"failed_precondition", 400},
        {"aborted", 409},
        {"out_of_range", 400},
        {"unimplemented", 501},
        {"internal", 500},
        {"unavailable", 503},
        {"data_loss", 500},
        {"unauthenticated", 401},
    };
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (strcmp(code, statuses[i].code) == 0)
            return statuses[i].status;
    }
    return 500;
}

void connect_reply_error(http_request *request, const char *code, const char *message) {
    http_reply_json(request, http_status(code), connect_error(code, message));
}

void connect_stream_error(http_request *request, const char *code, const char *message) {
    http_stream *stream = http_stream_start(request, 200, CONNECT_STREAM_TYPE);
    json_t *end = json_pack("{s:o}", "error", connect_error(code, message));
    if (connect_frame_send(stream, CONNECT_END, end))
        http_stream_abort(stream);
    else
        http_stream_end(stream);
}
