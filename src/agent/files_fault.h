/*
 * files_fault.h - what goes wrong with files, as an HTTP status and a message.
 */
#ifndef STEPBOX_FILES_FAULT_H
#define STEPBOX_FILES_FAULT_H

#include "http_server.h"

#include <limits.h>

typedef struct files_fault {
    int status; /* 0: none */
    char message[PATH_MAX + 200];
} files_fault;

/* Both return -1. */
int files_fault_set(files_fault *fault, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* From errno: what was being done with the path. */
int files_fault_errno(files_fault *fault, int error, const char *doing, const char *path);

#endif
