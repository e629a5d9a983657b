#include "rpc_stream.h"

#include "text.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void sbi_rpc_stream_init(struct sbi_rpc_stream *stream, sbi_rpc_message *message, void *user,
                         sb_code missing, const char *what_is_cut) {
    *stream = (struct sbi_rpc_stream){
        .message = message, .user = user, .missing = missing, .what_is_cut = what_is_cut};
    sbi_frames_init(&stream->frames, SBI_MAX_MESSAGE);
}

void sbi_rpc_stream_free(struct sbi_rpc_stream *stream) {
    sbi_frames_free(&stream->frames);
}

static int set_message(struct sbi_exchange *exchange, json_t *message, sb_error *err) {
    char *text = json_dumps(message, JSON_COMPACT);
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

int sbi_rpc_stream_request(struct sbi_exchange *exchange, const struct sbi_address *address,
                           const char *user, const char *path, json_t *message, sb_error *err) {
    if (message == NULL) {
        return sbi_fail(err, SB_INVALID, "a string that is not UTF-8");
    }
    int status = sbi_exchange_to_sandbox(exchange, address, SBI_PORT_ENVD, "POST", path, err);
    if (status == 0) {
        status = sbi_rpc_headers(exchange, address, user, err);
    }
    if (status == 0) {
        /* Proxies between end connections on which nothing moves. Seconds. */
        status = sbi_exchange_add_header(exchange, "Keepalive-Ping-Interval: 50", err);
    }
    if (status == 0) {
        status = set_message(exchange, message, err);
    }
    json_decref(message);
    return status;
}

json_t *sbi_rpc_message_parse(const char *json, size_t length, sb_error *err) {
    json_t *root = json_loadb(json, length, 0, NULL);
    if (!json_is_object(root)) {
        char begin[80];
        json_decref(root);
        sbi_fail(err, SB_PROTOCOL, "a message that is no JSON, it begins with \"%s\"",
                 sbi_text_excerpt(begin, sizeof begin, json, length));
        return NULL;
    }
    return root;
}

static int take_end(struct sbi_rpc_stream *stream, const struct sbi_frame *frame, int status,
                    sb_error *err) {
    json_t *root = sbi_rpc_message_parse(frame->payload, frame->length, err);
    if (root == NULL) {
        return -1;
    }
    const json_t *error = json_object_get(root, "error");
    stream->has_ended = true;
    if (error != NULL && !json_is_null(error)) {
        sbi_rpc_fail(error, status, stream->missing, &stream->error);
    }
    json_decref(root);
    return 0;
}

static int check_flags(unsigned flags, sb_error *err) {
    if (flags & SBI_FRAME_COMPRESSED) {
        return sbi_fail(err, SB_PROTOCOL, "a compressed message that was not asked for");
    }
    return flags & ~(unsigned)SBI_FRAME_END
               ? sbi_fail(err, SB_PROTOCOL, "the answer is no stream of messages")
               : 0;
}

static int take_frame(struct sbi_rpc_stream *stream, const struct sbi_frame *frame, int status,
                      sb_error *err) {
    if (check_flags(frame->flags, err) != 0) {
        return -1;
    }
    return frame->flags & SBI_FRAME_END
               ? take_end(stream, frame, status, err)
               : stream->message(stream->user, frame->payload, frame->length, err);
}

static int check_type(struct sbi_rpc_stream *stream, const struct sbi_exchange *exchange,
                      sb_error *err) {
    stream->is_checked = true;
    return strncasecmp(exchange->content_type, "text/html", 9) == 0
               ? sbi_fail(err, SB_PROTOCOL, "the answer is a page of HTML")
               : 0;
}

int sbi_rpc_stream_data(struct sbi_rpc_stream *stream, const struct sbi_exchange *exchange,
                        const char *bytes, size_t length, sb_error *err) {
    struct sbi_frame frame;
    if (!stream->is_checked && check_type(stream, exchange, err) != 0) {
        return -1;
    }
    while (!stream->has_ended) {
        switch (sbi_frames_next(&stream->frames, &bytes, &length, &frame)) {
        case SBI_PARSE_MORE:
            return 0;
        case SBI_PARSE_TOO_LARGE:
            /* What is no frame at all announces any length. */
            if (check_flags(stream->frames.header[0], err) != 0) {
                return -1;
            }
            return sbi_fail(err, SB_TOO_LARGE, "a message of more than %u bytes", SBI_MAX_MESSAGE);
        case SBI_PARSE_NO_MEMORY:
            return sbi_no_memory(err);
        case SBI_PARSE_ITEM:
            if (take_frame(stream, &frame, exchange->status, err) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

int sbi_rpc_stream_result(const struct sbi_rpc_stream *stream, const struct sbi_exchange *exchange,
                          sb_error *err) {
    if (stream->has_ended) {
        if (stream->error.code == SB_OK) {
            return 0;
        }
        *err = stream->error;
        return -1;
    }
    if (exchange->was_cut) {
        return sbi_fail_status(err, SB_SANDBOX_LOST, exchange->status,
                               "the connection was cut before %s", stream->what_is_cut);
    }
    if (sbi_rpc_check(exchange, stream->missing, err) != 0) {
        return -1;
    }
    /* Without a length or chunks the end of an answer looks like a cut. */
    return sbi_fail_status(err, exchange->is_framed ? SB_PROTOCOL : SB_SANDBOX_LOST,
                           exchange->status, "the answer ended before %s", stream->what_is_cut);
}
