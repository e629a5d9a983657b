/*
 * connect_messages.h - answers of the Connect protocol's streams, as a test writes them down:
 * messages of JSON, each with a digit for its frame's flags before it.
 */
#ifndef SPEC_CORE_CONNECT_MESSAGES_H
#define SPEC_CORE_CONNECT_MESSAGES_H

#include "connect_frame.h"
#include "scripted_server.h"

#define STARTED "0{\"event\":{\"start\":{\"pid\":7}}}"
#define KEEPALIVE "0{\"event\":{\"keepalive\":{}}}"
#define EXITED                                                                                     \
    "0{\"event\":{\"end\":{\"exitCode\":0,\"exited\":true,\"status\":\"exit status 0\"}}}"
#define FAILED                                                                                     \
    "0{\"event\":{\"end\":{\"exitCode\":3,\"exited\":true,\"status\":\"exit status 3\","           \
    "\"error\":\"exit status 3\"}}}"
#define KILLED                                                                                     \
    "0{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: killed\","                         \
    "\"error\":\"signal: killed\"}}}"

/* Frames the messages (up to a NULL); returns malloc()ed bytes. */
static inline char *connect_messages(const char *const *messages, size_t *length) {
    char *bytes = NULL;
    for (*length = 0; *messages != NULL; messages++) {
        const char *payload = *messages + 1;
        size_t size = strlen(payload);
        bytes = realloc(bytes, *length + SBI_FRAME_HEADER + size);
        sbi_frame_header((unsigned char *)bytes + *length, (unsigned)(**messages - '0'), size);
        memcpy(bytes + *length + SBI_FRAME_HEADER, payload, size);
        *length += SBI_FRAME_HEADER + size;
    }
    return bytes;
}

static inline void server_add_messages(struct server *server, const char *request,
                                       const char *const *messages, bool is_whole,
                                       enum answer_way way) {
    size_t length;
    char *bytes = connect_messages(messages, &length);
    server_add_stream_bytes(server, request, bytes, length, is_whole, way);
    free(bytes);
}

#endif
