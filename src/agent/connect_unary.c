/* connect_unary.c - see connect_unary.h */
#include "connect_unary.h"

#include "connect_messages.h"

#include <string.h>
#include <strings.h>

/* Whether the content is of the type, which parameters such as a charset may follow. */
static bool has_type(const http_request *request, const char *type) {
    const char *value = http_request_header(request, "Content-Type");
    size_t length = strlen(type);
    return value && strncasecmp(value, type, length) == 0 &&
           (value[length] == '\0' || strchr("; \t", value[length]));
}

json_t *connect_unary_read(http_request *request) {
    const char *encoding = http_request_header(request, "Content-Encoding");
    size_t length;
    const char *text = http_request_body(request, &length);
    json_error_t error;
    if (!has_type(request, CONNECT_UNARY_TYPE)) {
        http_reply_header(request, "Accept-Post", CONNECT_UNARY_TYPE);
        http_reply(request, 415, NULL, NULL, 0);
        return NULL;
    }
    if (encoding && *encoding && strcasecmp(encoding, "identity") != 0) {
        connect_reply_error(request, "unimplemented", "compressed messages are not taken");
        return NULL;
    }
    json_t *message = json_loadb(text, length, JSON_ALLOW_NUL, &error);
    if (message && json_is_object(message))
        return message;
    connect_reply_error(request, "invalid_argument",
                        message ? "the message is not an object" : error.text);
    json_decref(message);
    return NULL;
}

void connect_unary_reply(http_request *request, json_t *message) {
    if (message)
        http_reply_json(request, 200, message);
    else
        connect_reply_error(request, "resource_exhausted", "out of memory");
}
