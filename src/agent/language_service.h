/*
 * language_service.h - what clients are told of languages: which there are, and why one is not.
 */
#ifndef STEPBOX_LANGUAGE_SERVICE_H
#define STEPBOX_LANGUAGE_SERVICE_H

#include "http_server.h"
#include "language_kernels.h"

/* By the name that a client gave; NULL when there is none such or it is not installed, and the
 * request was answered. */
const struct language *language_of_request(struct language_kernels *kernels, const char *runners,
                                           const char *name, http_request *request);

/* [{name, aliases, available, message}]; message, for people, where it is not available. */
json_t *language_list(struct language_kernels *kernels, const char *runners);

#endif
