/*
 * command.h - process.Process/Start: runs one program and streams what it writes, until its end.
 */
#ifndef STEPBOX_COMMAND_H
#define STEPBOX_COMMAND_H

#include "agent.h"

/* Answers the request: a Connect stream of start, data, keepalive and end events. When the client
 * leaves, the program is killed with all it started. */
void command_start(struct agent *agent, http_request *request);

#endif
