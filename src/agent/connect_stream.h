/*
 * connect_stream.h - Connect calls whose answer is a stream: one message in a frame, and the two
 * times that such calls bring with them.
 */
#ifndef STEPBOX_CONNECT_STREAM_H
#define STEPBOX_CONNECT_STREAM_H

#include "http_server.h"

/* The message of a streaming call, an object, as a new reference. NULL: there is none, and the
 * request has been answered with the error. */
json_t *connect_stream_read(http_request *request);

/* Seconds between keepalive events, as the client asks for them, else 90. */
double connect_keepalive(const http_request *request);
/* Seconds that the call may take, or 0 when it may take for ever. */
double connect_timeout(const http_request *request);

#endif
