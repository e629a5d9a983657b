/*
 * command_request.h - what a process.Process/Start asks for, checked.
 */
#ifndef STEPBOX_COMMAND_REQUEST_H
#define STEPBOX_COMMAND_REQUEST_H

#include "http_server.h"

typedef struct command_request {
    json_t *message;    /* owns all texts below */
    char **argv;        /* NULL-terminated, one allocation */
    const json_t *envs; /* or NULL */
    const char *cwd;    /* or NULL */
    double keepalive;   /* seconds between keepalive events */
    double timeout;     /* seconds, or 0 */
} command_request;

/* 0; or -1, and the request was answered with the error. */
int command_request_read(http_request *request, command_request *parsed);
void command_request_free(command_request *parsed);

#endif
