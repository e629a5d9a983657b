/*
 * code_interpreter.h - the service on port 49999: steps and contexts.
 */
#ifndef STEPBOX_CODE_INTERPRETER_H
#define STEPBOX_CODE_INTERPRETER_H

#include "agent.h"

typedef struct code_interpreter code_interpreter;

/* NULL when out of memory. */
code_interpreter *code_interpreter_new(struct agent *agent);
void code_interpreter_free(code_interpreter *interpreter);

/* The handlers of its HTTP server, both needed; user is the code_interpreter. */
void code_interpreter_head(http_request *request, void *user);
void code_interpreter_handle(http_request *request, void *user);

#endif
