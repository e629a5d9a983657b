/*
 * request_model.h - reads the JSON body of a request to the code interpreter and checks its fields.
 * What is wrong is answered as the official server does it: 422, {"detail": [{type, loc, msg,
 * input}]}.
 */
#ifndef STEPBOX_REQUEST_MODEL_H
#define STEPBOX_REQUEST_MODEL_H

#include "http_server.h"

typedef enum model_kind {
    MODEL_STRING,          /* required */
    MODEL_OPTIONAL_STRING, /* or null, or absent */
    MODEL_OPTIONAL_ENVS    /* an object of strings that can be environment variables */
} model_kind;

typedef struct model_field {
    const char *name;
    model_kind kind;
} model_field;

/* The body, an object whose fields are right; or NULL, and the request was answered. The list ends
 * with a field without a name. */
json_t *model_read(http_request *request, const model_field *fields);

/* The field's text, or "" when it is null or absent. Text with NUL bytes counts up to the first. */
const char *model_string(const json_t *body, const char *name);

#endif
