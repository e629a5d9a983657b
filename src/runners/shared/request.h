/*
 * request.h - what the agent sends: a step to run, or word that both pipes are empty.
 */
#ifndef STEPBOX_RUNNER_REQUEST_H
#define STEPBOX_RUNNER_REQUEST_H

#include <jansson.h>
#include <stdbool.h>

typedef enum request_type { REQUEST_UNKNOWN, REQUEST_RUN, REQUEST_DRAINED } request_type;

struct request {
    request_type type;
    json_t *message;
    const json_t *code; /* a string */
    json_t *env;        /* an object of strings */
    bool name_with_nul; /* of a variable; nothing else is known of such a request */
};

/* Reads a line. One that is no request is REQUEST_UNKNOWN. To be freed in any case. */
struct request request_read(const char *line, size_t length);
void request_free(struct request *request);

/* Why the variables cannot be set, or NULL when they can: a text for people, in `fault`. */
#define REQUEST_FAULT_MAX 200
const char *request_env_fault(const struct request *request, char fault[REQUEST_FAULT_MAX]);

#endif
