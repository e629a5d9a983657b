/* http_stream.c - answers that are written piece by piece, with back-pressure. */
#include "http_internal.h"

#include <stdlib.h>
#include <string.h>

/* A writer that ignores http_stream_pending() for this many bytes has its stream cut. */
#define STREAM_MAX ((size_t)256 * 1024 * 1024)
/* A drained buffer larger than this is given back. */
#define KEEP_CAPACITY (2 * HTTP_STREAM_HIGH)
/* Bytes libmicrohttpd asks for at once from clients without chunked encoding (HTTP/1.0). */
#define BLOCK_SIZE (32 * 1024)

/* libmicrohttpd asks for bytes to send. */
static ssize_t read_stream(void *user, uint64_t position, char *to, size_t max) {
    (void)position;
    http_stream *stream = user;
    http_request *request = stream->request;
    size_t pending = stream->end - stream->start;
    if (request->gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (pending == 0) {
        if (stream->broken)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (stream->ended)
            return MHD_CONTENT_READER_END_OF_STREAM;
        http_request_suspend(request);
        return 0;
    }
    size_t length = pending < max ? pending : max;
    memcpy(to, stream->bytes + stream->start, length);
    stream->start += length;
    if (stream->start == stream->end) {
        stream->start = stream->end = 0;
        if (stream->capacity > KEEP_CAPACITY) {
            free(stream->bytes);
            stream->bytes = NULL;
            stream->capacity = 0;
        }
    }
    if (stream->was_high && stream->end - stream->start < HTTP_STREAM_HIGH / 2) {
        stream->was_high = false;
        if (stream->on_drain)
            stream->on_drain(stream->drain_user);
    }
    return (ssize_t)length;
}

http_stream *http_stream_start(http_request *request, int status, const char *content_type) {
    /* A HEAD request gets no body at all: libmicrohttpd (0.9.75) sends even then the last chunk. */
    struct MHD_Response *response =
        strcmp(request->method, "HEAD") == 0
            ? MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT)
            : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_stream,
                                                &request->stream, NULL);
    if (response && content_type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    request->streaming = true;
    http_request_watch(request);
    http_request_set_response(request, status, response);
    return &request->stream;
}

void http_stream_on_drain(http_stream *stream, void (*fn)(void *user), void *user) {
    stream->on_drain = fn;
    stream->drain_user = user;
}

size_t http_stream_pending(const http_stream *stream) {
    return stream->request->gone ? 0 : stream->end - stream->start;
}

/* Makes room for `length` more bytes behind `end`. */
static bool reserve(http_stream *stream, size_t length) {
    size_t pending = stream->end - stream->start;
    if (length <= stream->capacity - stream->end)
        return true;
    if (length > STREAM_MAX - pending)
        return false;
    /* Moving is cheap when at least half of the buffer has been sent. */
    if (pending + length <= stream->capacity && stream->start >= stream->capacity / 2) {
        memmove(stream->bytes, stream->bytes + stream->start, pending);
    } else {
        size_t capacity = stream->capacity ? stream->capacity * 2 : 4096;
        while (capacity < pending + length)
            capacity *= 2;
        char *bytes = malloc(capacity);
        if (!bytes)
            return false;
        if (pending)
            memcpy(bytes, stream->bytes + stream->start, pending);
        free(stream->bytes);
        stream->bytes = bytes;
        stream->capacity = capacity;
    }
    stream->start = 0;
    stream->end = pending;
    return true;
}

void http_stream_write(http_stream *stream, const void *bytes, size_t length) {
    http_request *request = stream->request;
    if (length == 0 || request->gone || !request->conn || stream->broken)
        return;
    if (!reserve(stream, length)) {
        stream->broken = true;
    } else {
        memcpy(stream->bytes + stream->end, bytes, length);
        stream->end += length;
        if (stream->end - stream->start > HTTP_STREAM_HIGH)
            stream->was_high = true;
    }
    http_request_resume(request);
}

static void finish(http_stream *stream) {
    http_request *request = stream->request;
    stream->ended = true;
    stream->on_drain = NULL;
    http_request_resume(request);
    http_request_release(request);
}

void http_stream_end(http_stream *stream) {
    finish(stream);
}

void http_stream_abort(http_stream *stream) {
    stream->broken = true;
    finish(stream);
}
