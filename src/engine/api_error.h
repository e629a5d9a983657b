/*
 * api_error.h - the one place that answers a request of the control plane with an error:
 * {"code": STATUS, "message": TEXT}.
 */
#ifndef STEPBOX_API_ERROR_H
#define STEPBOX_API_ERROR_H

#include "http_server.h"

/* The text is cut at 1 KiB; bytes in it that are not UTF-8 are shown as "?". */
void api_error(http_request *request, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
