/*
 * init.h - POST /init: the settings a sandbox begins with.
 */
#ifndef STEPBOX_INIT_H
#define STEPBOX_INIT_H

#include "agent.h"

/* Only the engine may; anybody when the agent is alone. */
void init_handle(struct agent *agent, http_request *request);

#endif
