/*
 * command_fixture.h - starting commands on a scripted server.
 */
#ifndef SPEC_CORE_COMMAND_FIXTURE_H
#define SPEC_CORE_COMMAND_FIXTURE_H

#include "connect_messages.h"
#include "connection.h"

#define START "POST /process.Process/Start"
#define CONNECT "POST /process.Process/Connect"
#define SIGNAL "POST /process.Process/SendSignal"
#define OUT(base64) "0{\"event\":{\"data\":{\"stdout\":\"" base64 "\"}}}"
#define DONE STARTED, EXITED, "2{}", NULL

/* Adds an answer to the next start. */
static inline void add(struct connection *c, const char *const *messages, bool is_whole,
                       enum answer_way way) {
    server_add_messages(c->server, START, messages, is_whole, way);
}

/* Runs a command to its end. */
static inline sb_op *run(struct connection *c, const char *command,
                         const sb_command_options *options) {
    c->error = (sb_error){0};
    sb_op *op = sb_command(c->box, command, options, &c->error);
    if (op != NULL) {
        sb_op_wait(op, &c->error);
    }
    return op;
}

#endif
