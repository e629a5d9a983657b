/*
 * process_request.h - what a process.Process/Start asks for, checked.
 */
#ifndef STEPBOX_PROCESS_REQUEST_H
#define STEPBOX_PROCESS_REQUEST_H

#include "agent.h"
#include "privileges.h"
#include "process_fault.h"

#define PROCESS_TAG_MAX 1024 /* bytes */

typedef struct process_request {
    json_t *message;    /* owns the texts below */
    char **argv;        /* NULL-terminated, one allocation */
    const json_t *envs; /* or NULL */
    agent_user user;    /* whom the agent acts as when it is read */
    const char *cwd;    /* as asked for, or NULL */
    char *directory;    /* where it starts; of its own */
    const char *tag;    /* or NULL */
    bool stdin_open;    /* its stdin is a pipe; else it is empty */
    bool terminal;      /* it runs on a terminal of that many columns and rows */
    unsigned cols, rows;
    double timeout; /* seconds until it is killed, or 0 */
} process_request;

/* False: *fault says what is wrong. Either way process_request_free() frees it. Takes the reference
 * to the message. */
bool process_request_read(const struct agent *agent, const http_request *request, json_t *message,
                          process_request *parsed, process_fault *fault);
void process_request_free(process_request *parsed);

/* The size in a message's `pty`, or the default where it says nothing or 0. */
bool process_request_size(const json_t *pty, unsigned *cols, unsigned *rows, process_fault *fault);
/* A number that may also be a text of digits, as the JSON of protobuf has it; absent is 0. */
bool process_request_number(const json_t *value, json_int_t max, json_int_t *number);
/* The seconds that Connect-Timeout-Ms says; 0 when it says nothing or 0. */
bool process_request_timeout(const http_request *request, double *seconds, process_fault *fault);

#endif
