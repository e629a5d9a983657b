/*
 * first_request.h - the gate of a connection that is for a sandbox only as long as its first
 * request (see request_end.h): what comes behind the request is kept from the sandbox, unless that
 * agreed to an upgrade; then the whole connection is its own.
 */
#ifndef STEPBOX_FIRST_REQUEST_H
#define STEPBOX_FIRST_REQUEST_H

#include "pump.h"
#include "request_end.h"
#include "upgrade_answer.h"

struct first_request {
    struct request_end end;
    bool wants_upgrade;
    bool ends; /* what follows ends the stream: a server that keeps connections closes this one */
    struct upgrade_answer answer;
};

void first_request_init(struct first_request *request, const struct route *route);

/* Its user is the first_request. */
extern const pump_gate first_request_gate;

#endif
