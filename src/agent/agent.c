/* agent.c - see agent.h */
#include "agent.h"

#include "json_text.h"

#include <nettle/memops.h>
#include <string.h>

void agent_prepare_reply(http_request *request) {
    if (http_request_header(request, "E2b-Sandbox-Id"))
        http_reply_close(request);
}

void agent_reply_error(http_request *request, int status, const char *message) {
    /* The message may quote what a client sent, or a part of it. */
    http_reply_json(
        request, status,
        json_pack("{s:i, s:o}", "code", status, "message", json_text(message, strlen(message))));
}

/* In a time that does not tell how much of it is right. */
static bool is_same(const char *a, const char *b) {
    size_t length = strlen(a);
    return strlen(b) == length && memeql_sec(a, b, length);
}

bool agent_token_matches(const struct agent *agent, const char *token) {
    return !agent->access_token || (token && is_same(agent->access_token, token));
}

bool agent_is_authorized(const struct agent *agent, const http_request *request) {
    return agent_token_matches(agent, http_request_header(request, "X-Access-Token"));
}
