/*
 * metrics.h - GET /metrics: what the processes and files of this sandbox take, seen from inside.
 */
#ifndef STEPBOX_METRICS_H
#define STEPBOX_METRICS_H

#include "agent.h"

void metrics_handle(struct agent *agent, http_request *request);

#endif
