/*
 * sandbox_record.h - what is known of a sandbox, and how the API shows it.
 */
#ifndef STEPBOX_SANDBOX_RECORD_H
#define STEPBOX_SANDBOX_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "sandbox_limits.h"
#include "random_text.h"

#define TEMPLATE_ID_MAX 64

struct sandbox_record {
    char id[SANDBOX_ID_LENGTH + 1];
    char template_id[TEMPLATE_ID_MAX];   /* as the client wrote it */
    const char *alias;                   /* the template's, static */
    char token[ACCESS_TOKEN_LENGTH + 1]; /* "": the agent takes requests without one */
    char
        traffic_token[ACCESS_TOKEN_LENGTH + 1]; /* \"\": its other ports take traffic without one */
    json_t *metadata;                           /* an object of strings, or NULL */
    struct limits limits;
    int64_t started_at; /* wall clock, milliseconds since 1970 */
    int64_t end_at;     /* the same; of a paused one, when it was paused */
    int timeout;        /* seconds that it was last given to live */
    bool paused;
    bool auto_pause, auto_resume; /* see sandbox_request */
};

/* What all sandboxes of this host share. */
struct host_facts {
    int cpu_count;
    int memory_mb;
    const char *domain; /* or NULL */
};

void host_facts_read(struct host_facts *facts, const char *domain);

/* The API's schemas. A new reference, or NULL when out of memory. */
json_t *sandbox_record_created(const struct sandbox_record *record, const struct host_facts *facts);
json_t *sandbox_record_listed(const struct sandbox_record *record);
json_t *sandbox_record_detail(const struct sandbox_record *record, const struct host_facts *facts);

#endif
