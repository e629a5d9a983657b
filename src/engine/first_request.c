#include "first_request.h"

void first_request_init(struct first_request *request, const struct route *route) {
    /* The agent answers one request anyway, and takes an early end for a client that has gone. */
    bool to_agent = route->port == ROUTE_DEFAULT_PORT || route->port == ROUTE_CODE_PORT;
    *request = (struct first_request){.wants_upgrade = route->upgrade,
                                      .ends = route->to_sandbox && !to_agent};
    request_end_init(&request->end, route);
}

static size_t admit(void *user, const char *bytes, size_t length, enum pump_rest *rest) {
    struct first_request *request = user;
    if (request->wants_upgrade && request->answer.verdict == UPGRADE_AGREED)
        return length;
    *rest = request->wants_upgrade && request->answer.verdict == UPGRADE_PENDING ? PUMP_HOLD
            : request->ends                                                      ? PUMP_END
                                                                                 : PUMP_DROP;
    return request_end_feed(&request->end, bytes, length);
}

static bool answered(void *user, const char *bytes, size_t length) {
    struct first_request *request = user;
    if (!request->wants_upgrade || request->answer.verdict != UPGRADE_PENDING)
        return false;
    return upgrade_answer_feed(&request->answer, bytes, length) != UPGRADE_PENDING;
}

const pump_gate first_request_gate = {.admit = admit, .answered = answered};
