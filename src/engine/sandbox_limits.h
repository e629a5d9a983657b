/*
 * sandbox_limits.h - what a sandbox may take of the host: the numbers, from where they come, and
 * how the API writes them.
 *
 * Three sources, each over the one before: the defaults of this host, the engine's configuration
 * (for all sandboxes, then for one template), and the request that makes the sandbox.
 */
#ifndef STEPBOX_SANDBOX_LIMITS_H
#define STEPBOX_SANDBOX_LIMITS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields.h"

struct host_facts;

#define LIMITS_MIB (1024 * 1024)

struct limits {
    int64_t
        memory;   /* bytes; files in the sandbox's own file systems count, for they are in memory */
    int64_t disk; /* bytes of these files: less than the memory, so that programs can run */
    double cpus;
    int processes;  /* and threads, of the sandbox's user */
    int open_files; /* of each process */
    int64_t output; /* bytes; 0: limits_output() decides by the disk */
};

/* The sandbox's own processes, in addition to those of its user: bwrap, the agent, and what the
 * agent starts before it has given up its privileges. */
#define LIMITS_OWN_PROCESSES 16
/* The same for the control group, which counts those of every user. */
#define LIMITS_GROUP_PROCESSES (2 * LIMITS_OWN_PROCESSES)

/* What this host gives a sandbox when nobody says more. */
void limits_defaults(struct limits *limits, const struct host_facts *host);

/* A field with {"memoryMB": ..., "cpuCount": ..., "diskMB": ..., "processes": ..., "openFiles":
 * ..., "outputMB": ...}, each of which may be absent or null. */
field_check limits_field;

/* Lays an object that limits_field() has taken (or NULL) over the limits. */
void limits_override(struct limits *limits, json_t *object);

/* Whether the host can honour them, and they agree with each other. If not, message names the field
 * of "limits". */
bool limits_fit(const struct limits *limits, const struct host_facts *host, char *message,
                size_t room);

/* Bytes that a step, or a command, may put out; what comes after is dropped. */
int64_t limits_output(const struct limits *limits);

/* Processors as E2B's API has them: whole, and at least one. */
int limits_cpu_count(const struct limits *limits);

/* In the API's names and units. A new reference, or NULL when out of memory. */
json_t *limits_describe(const struct limits *limits);

#endif
