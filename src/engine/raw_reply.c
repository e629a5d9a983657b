#include "raw_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *reason(int status) {
    switch (status) {
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 408:
        return "Request Timeout";
    case 431:
        return "Request Header Fields Too Large";
    case 502:
        return "Bad Gateway";
    case 504:
        return "Gateway Timeout";
    default:
        return "Service Unavailable";
    }
}

size_t raw_reply(char out[RAW_REPLY_SIZE], int status, json_t *body) {
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (!text)
        return 0;
    int length =
        snprintf(out, RAW_REPLY_SIZE,
                 "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                 "Connection: close\r\n\r\n%s",
                 status, reason(status), strlen(text), text);
    free(text);
    return length < RAW_REPLY_SIZE ? (size_t)length : 0;
}

size_t raw_reply_error(char out[RAW_REPLY_SIZE], int status, const char *message) {
    return raw_reply(out, status, json_pack("{s:i, s:s}", "code", status, "message", message));
}

size_t raw_reply_bad_gateway(char out[RAW_REPLY_SIZE], const struct route *route,
                             bool sandbox_is_there) {
    json_t *body = json_pack("{s:s, s:s, s:i}", "sandboxId", route->id, "message",
                             sandbox_is_there ? "The sandbox is running but port is not open"
                                              : "The sandbox was not found",
                             "code", 502);
    if (body && sandbox_is_there)
        json_object_set_new(body, "port", json_integer(route->port));
    return raw_reply(out, 502, body);
}

size_t raw_reply_paused(char out[RAW_REPLY_SIZE], const struct route *route) {
    return raw_reply(out, 502,
                     json_pack("{s:s, s:s, s:i, s:b}", "sandboxId", route->id, "message",
                               "The sandbox is paused", "code", 502, "canAutoResume", false));
}

size_t raw_reply_no_traffic(char out[RAW_REPLY_SIZE], const struct route *route, bool given) {
    return raw_reply(out, 403,
                     json_pack("{s:s, s:s, s:i, s:i}", "sandboxId", route->id, "message",
                               given ? "The token in e2b-traffic-access-token is wrong"
                                     : "The sandbox is secured with a traffic access token: the "
                                       "header e2b-traffic-access-token is missing",
                               "port", (int)route->port, "code", 403));
}
