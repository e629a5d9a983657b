/*
 * init.h - POST /init: the settings a sandbox begins with.
 */
#ifndef STEPBOX_INIT_H
#define STEPBOX_INIT_H

#include "agent.h"

/* Only the engine may; anybody when the agent is alone. */
bool init_is_welcome(const struct agent *agent, const http_request *request);
void init_handle(struct agent *agent, http_request *request);

#endif
