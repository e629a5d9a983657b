/*
 * files_service.h - the contents of files over plain HTTP: /files and /files/compose.
 */
#ifndef STEPBOX_FILES_SERVICE_H
#define STEPBOX_FILES_SERVICE_H

#include "agent.h"

/* GET and HEAD /files. */
void files_get(struct agent *agent, http_request *request);
/* POST /files, at the request's head. */
void files_post(struct agent *agent, http_request *request);
/* POST /files/compose. */
void files_compose(struct agent *agent, http_request *request);

#endif
