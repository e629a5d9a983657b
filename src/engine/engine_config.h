/*
 * engine_config.h - the engine's configuration file: what whoever runs it allows its sandboxes.
 *
 * JSON: {"limits": {...}, "maxSandboxes": N, "maxMemoryMB": N, "maxSnapshotsMB": N, "templates":
 * {NAME: {"limits": {...}}}, "network": {...}, "forkRunners": BOOLEAN, "shareZygotes": BOOLEAN,
 * "freshZygotes": N}; each may be absent. A file that is wrong stops the engine's start: limits
 * that were written down and do not hold would be worse.
 */
#ifndef STEPBOX_ENGINE_CONFIG_H
#define STEPBOX_ENGINE_CONFIG_H

#include <jansson.h>
#include <limits.h>

#include "sandbox_limits.h"

struct host_facts;

struct engine_config {
    char path[PATH_MAX];  /* of the file that was read; "" when there was none */
    json_t *file;         /* an object, checked; {} without a file */
    struct limits limits; /* of a sandbox of no template's own */
    int max_sandboxes;
    int64_t max_memory;     /* bytes: the sum of the limits of all sandboxes */
    uint64_t max_snapshots; /* bytes of all snapshots */
};

/* Where the file is when nobody says: $XDG_CONFIG_HOME/stepbox/engine.json, or in ~/.config.
 * Returns false when there is neither a directory for configurations nor a home. */
bool engine_config_default_path(char out[PATH_MAX]);

/* Reads path, or with "" the default one, which may be missing. 0, or -1 with a message for people.
 */
int engine_config_load(struct engine_config *config, const char *path,
                       const struct host_facts *host, char *message, size_t room);
void engine_config_free(struct engine_config *config);

/* The limits of a sandbox of a template. */
struct limits engine_config_limits(const struct engine_config *config, const char *alias);
/* The object "network" of the file, or NULL. Borrowed. */
json_t *engine_config_network(const struct engine_config *config);

#endif
