/*
 * envd.h - the service on port 49983: health, the sandbox's settings, and programs.
 */
#ifndef STEPBOX_ENVD_H
#define STEPBOX_ENVD_H

#include "agent.h"

/* The handlers of its HTTP server, both needed; user is the struct agent. */
void envd_head(http_request *request, void *user);
void envd_handle(http_request *request, void *user);

#endif
