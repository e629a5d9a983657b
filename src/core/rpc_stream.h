/*
 * rpc_stream.h - a call of the Connect protocol whose answer is a stream of messages: each is JSON
 * in a frame, and a last frame says how it ended.
 */
#ifndef STEPBOX_CORE_RPC_STREAM_H
#define STEPBOX_CORE_RPC_STREAM_H

#include "connect_frame.h"
#include "rpc.h"

/* Bytes of one message. */
#define SBI_MAX_MESSAGE (16u * 1024 * 1024)

/* Takes one message, JSON text that nobody has looked at yet. 0, or -1 with err: the exchange ends
 * with that. */
typedef int sbi_rpc_message(void *user, const char *json, size_t length, sb_error *err);

struct sbi_rpc_stream {
    struct sbi_frames frames;
    sbi_rpc_message *message;
    void *user;
    sb_code missing;         /* what the service's not_found means */
    bool is_checked;         /* the answer's type was looked at */
    bool has_ended;          /* the last frame came; what follows is not looked at */
    sb_error error;          /* what it says that failed */
    const char *what_is_cut; /* in messages, "the command's end" */
};

void sbi_rpc_stream_init(struct sbi_rpc_stream *stream, sbi_rpc_message *message, void *user,
                         sb_code missing, const char *what_is_cut);
void sbi_rpc_stream_free(struct sbi_rpc_stream *stream);

/* Describes the call. Takes the reference to message, which may be NULL as for sbi_rpc_request().
 * The caller sets exchange->stream. */
int sbi_rpc_stream_request(struct sbi_exchange *exchange, const struct sbi_address *address,
                           const char *user, const char *path, json_t *message, sb_error *err);

/* Takes bytes of the answer; 0, or -1 with err. */
int sbi_rpc_stream_data(struct sbi_rpc_stream *stream, const struct sbi_exchange *exchange,
                        const char *bytes, size_t length, sb_error *err);

/* After the exchange: 0 when the stream ended in good order, else -1 with what the server said
 * (stream->error), how the transfer failed, or that the stream was cut (SB_SANDBOX_LOST, or
 * SB_PROTOCOL when the server left out the end). */
int sbi_rpc_stream_result(const struct sbi_rpc_stream *stream, const struct sbi_exchange *exchange,
                          sb_error *err);

/* A message's JSON, an object, as a new reference; NULL with SB_PROTOCOL. */
json_t *sbi_rpc_message_parse(const char *json, size_t length, sb_error *err);

#endif
