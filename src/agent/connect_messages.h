/*
 * connect_messages.h - the frames of Connect streams: a byte of flags, four of length (big-endian),
 * JSON.
 */
#ifndef STEPBOX_CONNECT_MESSAGES_H
#define STEPBOX_CONNECT_MESSAGES_H

#include "http_server.h"

#define CONNECT_COMPRESSED 0x01
#define CONNECT_END 0x02

typedef enum connect_result { CONNECT_OK, CONNECT_SHORT, CONNECT_BAD } connect_result;

/* Finds the message in the first frame of a request's body. CONNECT_SHORT: the frame is not whole;
 * CONNECT_BAD: its flags are not those of a message. */
connect_result connect_frame_parse(const char *bytes, size_t length, const char **message,
                                   size_t *message_length);

/* Sends a message, or (CONNECT_END) the end of the stream; takes the reference. Cuts nothing:
 * returns -1 when out of memory. */
int connect_frame_send(http_stream *stream, int flags, json_t *message);

/* {"code": ..., "message": ...}, or NULL when out of memory. */
json_t *connect_error(const char *code, const char *message);

/* Answers a unary call, or one that is no call, with an error and its HTTP status. */
void connect_reply_error(http_request *request, const char *code, const char *message);
/* Answers a streaming call with nothing but an error. */
void connect_stream_error(http_request *request, const char *code, const char *message);

#define CONNECT_STREAM_TYPE "application/connect+json"

#endif
