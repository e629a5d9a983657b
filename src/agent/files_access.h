/*
 * files_access.h - who may read or write a file by /files, and which.
 */
#ifndef STEPBOX_FILES_ACCESS_H
#define STEPBOX_FILES_ACCESS_H

#include "agent.h"
#include "files_fault.h"

/* Whether the request has the access token, or a signature of its own parameters for the operation,
 * "read" or "write", and names a user that there is. 0 or -1. */
int files_access_check(const struct agent *agent, const http_request *request,
                       const char *operation, files_fault *fault);

/* The absolute path, to be freed, of one that a client gave; NULL with the fault. */
char *files_access_path(const struct agent *agent, const char *path, size_t length,
                        files_fault *fault);

/* {"path", "name", "type": "file"}, with the metadata that the file has; NULL when out of memory.
 */
json_t *files_access_entry(const char *path, bool with_metadata);

/* Answers with the fault. */
void files_access_refuse(http_request *request, const files_fault *fault);

#endif
