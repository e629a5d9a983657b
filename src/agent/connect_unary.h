/*
 * connect_unary.h - Connect calls with one message each way: JSON bodies without frames.
 */
#ifndef STEPBOX_CONNECT_UNARY_H
#define STEPBOX_CONNECT_UNARY_H

#include "http_server.h"

/* The message of a unary call, an object, as a new reference. NULL: there is none, and the request
 * has been answered with the error. */
json_t *connect_unary_read(http_request *request);
/* Takes the reference; NULL is answered as being out of memory. */
void connect_unary_reply(http_request *request, json_t *message);

#define CONNECT_UNARY_TYPE "application/json"

#endif
