/* connect_stream.c - see connect_stream.h */
#include "connect_stream.h"

#include "connect_messages.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEEPALIVE_DEFAULT 90.0
#define KEEPALIVE_MAX 86400.0
/* Seconds; longer deadlines are none. */
#define TIMEOUT_MAX 1e8

json_t *connect_stream_read(http_request *request) {
    const char *type = http_request_header(request, "Content-Type"), *text;
    size_t length, body_length;
    const char *body = http_request_body(request, &body_length);
    if (!type || strncasecmp(type, CONNECT_STREAM_TYPE, strlen(CONNECT_STREAM_TYPE)) != 0) {
        http_reply_header(request, "Accept-Post", CONNECT_STREAM_TYPE);
        http_reply(request, 415, NULL, NULL, 0);
        return NULL;
    }
    connect_result result = connect_frame_parse(body, body_length, &text, &length);
    if (result != CONNECT_OK) {
        connect_stream_error(request, result == CONNECT_BAD ? "unimplemented" : "invalid_argument",
                             result == CONNECT_BAD ? "compressed messages are not taken"
                                                   : "the message is not whole");
        return NULL;
    }
    json_error_t error;
    json_t *message = json_loadb(text, length, JSON_ALLOW_NUL, &error);
    if (message && json_is_object(message))
        return message;
    connect_stream_error(request, "invalid_argument",
                         message ? "the message is not an object" : error.text);
    json_decref(message);
    return NULL;
}

/* A number in a header, between 1 and max; otherwise `absent`. */
static double header_number(const http_request *request, const char *name, double max,
                            double absent) {
    const char *text = http_request_header(request, name);
    char *end;
    double number = text ? strtod(text, &end) : 0.0;
    return text && end != text && !*end && number >= 1.0 && number <= max ? number : absent;
}

double connect_keepalive(const http_request *request) {
    return header_number(request, "Keepalive-Ping-Interval", KEEPALIVE_MAX, KEEPALIVE_DEFAULT);
}

double connect_timeout(const http_request *request) {
    return header_number(request, "Connect-Timeout-Ms", TIMEOUT_MAX * 1000.0, 0.0) / 1000.0;
}
