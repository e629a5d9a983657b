/*
 * process_service.h - E2B's process.Process: the handlers of its calls.
 */
#ifndef STEPBOX_PROCESS_SERVICE_H
#define STEPBOX_PROCESS_SERVICE_H

#include "agent.h"

/* Streams of events (process_stream.h). Start has an extension: with "Stepbox-Bound: 1" the process
 * is killed, with all it started, when the client of the stream goes away. */
void process_service_start(struct agent *agent, http_request *request);
void process_service_connect(struct agent *agent, http_request *request);

void process_service_list(struct agent *agent, http_request *request);
void process_service_update(struct agent *agent, http_request *request);
/* Takes more signals than E2B: any number from 1 to 64, any name with SIGNAL_ before it. */
void process_service_send_signal(struct agent *agent, http_request *request);

/* Answered when the process has taken all of it. */
void process_service_send_input(struct agent *agent, http_request *request);
void process_service_close_stdin(struct agent *agent, http_request *request);
/* At the request's head: takes its body as it comes. */
void process_service_stream_input(struct agent *agent, http_request *request);

#endif
