#include "engine_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "create_fields.h"
#include "sandbox_record.h"

#define MAX_FILE (1024 * 1024)

/* Of sandboxes that only wait a host holds many: each takes some 20 MB. */
#define LEAST_MAX_SANDBOXES 64
#define MB_PER_SANDBOX 64
/* Limits are ceilings that few sandboxes come near, so their sum may be a multiple of the memory.
 * What all of them really take together is bounded apart from this, where there are cgroups
 * (cgroups.h). */
#define MAX_SNAPSHOTS_MB 4096
#define MEMORY_OVERCOMMIT 16

bool engine_config_default_path(char out[PATH_MAX]) {
    const char *directory = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length;
    if (directory && directory[0] == '/')
        length = snprintf(out, PATH_MAX, "%s/stepbox/engine.json", directory);
    else if (home && home[0] == '/')
        length = snprintf(out, PATH_MAX, "%s/.config/stepbox/engine.json", home);
    else
        return false;
    return length < PATH_MAX;
}

static bool object_field(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room, "must be an object");
    return json_is_object(value);
}

static bool templates_field(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    if (!object_field(rule, value, why, room))
        return false;
    const char *name, *key;
    json_t *settings, *item;
    json_object_foreach(value, name, settings) {
        if (!template_alias(name)) {
            snprintf(why, room, "names a template that is not there: \"%.100s\"", name);
            return false;
        }
        if (!json_is_object(settings)) {
            snprintf(why, room, "must be an object of objects: \"%s\" is none", name);
            return false;
        }
        json_object_foreach(settings, key, item) {
            char inner[192];
            if (strcmp(key, "limits") != 0) {
                snprintf(why, room, "has an unknown field \"%.100s\" for \"%s\"", key, name);
                return false;
            }
            if (!limits_field(NULL, item, inner, sizeof inner)) {
                snprintf(why, room, "has \"limits\" for \"%s\" that %s", name, inner);
                return false;
            }
        }
    }
    return true;
}

static const struct field_rule rules[] = {
    FIELD("limits", limits_field),
    {.name = "maxSandboxes", .check = field_integer, .least = 1, .most = 100000},
    {.name = "maxMemoryMB", .check = field_integer, .least = 64, .most = 1024 * 1024 * 1024},
    {.name = "maxSnapshotsMB", .check = field_integer, .least = 1, .most = 1024 * 1024 * 1024},
    FIELD("templates", templates_field),
    FIELD("network", object_field),
    FIELD("forkRunners", field_boolean),
    FIELD("shareZygotes", field_boolean),
    {.name = "freshZygotes", .check = field_integer, .least = 1, .most = 64},
    FIELD(NULL, NULL),
};

/* The whole file. NULL with errno; *length is set. */
static char *read_file(const char *path, size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *bytes = fd < 0 ? NULL : malloc(MAX_FILE + 1);
    size_t used = 0;
    ssize_t got = -1;
    while (bytes && (got = read(fd, bytes + used, MAX_FILE + 1 - used)) > 0)
        used += (size_t)got;
    int saved = used > MAX_FILE ? EFBIG : errno;
    if (fd >= 0)
        close(fd);
    if (bytes && (got < 0 || used > MAX_FILE)) {
        free(bytes);
        bytes = NULL;
    }
    *length = used;
    errno = saved;
    return bytes;
}

/* NULL with why it is none. */
static json_t *parse(const char *bytes, size_t length, char *why, size_t room) {
    json_error_t error;
    json_t *file = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    if (!file && length == 0)
        snprintf(why, room, "it is empty");
    else if (!file)
        snprintf(why, room, "line %d is not valid JSON: %s", error.line, error.text);
    else if (!json_is_object(file))
        snprintf(why, room, "it must be a JSON object");
    else if (fields_check(file, rules, why, room))
        return file;
    json_decref(file);
    return NULL;
}

static json_t *load(const char *path, char *message, size_t room) {
    size_t length;
    char why[512];
    char *bytes = read_file(path, &length);
    if (!bytes) {
        snprintf(message, room, "the configuration %s cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    json_t *file = parse(bytes, length, why, sizeof why);
    free(bytes);
    if (!file)
        snprintf(message, room, "the configuration %s is wrong: %s", path, why);
    return file;
}

struct limits engine_config_limits(const struct engine_config *config, const char *alias) {
    struct limits limits = config->limits;
    json_t *templates = fields_get(config->file, "templates");
    json_t *settings = templates ? fields_get(templates, alias) : NULL;
    limits_override(&limits, settings ? fields_get(settings, "limits") : NULL);
    return limits;
}

/* Whether this host can honour all the limits of the file. */
static bool all_fit(const struct engine_config *config, const struct host_facts *host, char *why,
                    size_t room) {
    if (!limits_fit(&config->limits, host, why, room))
        return false;
    const char *name;
    json_t *settings, *templates = fields_get(config->file, "templates");
    json_object_foreach(templates, name, settings) {
        struct limits limits = engine_config_limits(config, name);
        char inner[384];
        if (!limits_fit(&limits, host, inner, sizeof inner)) {
            snprintf(why, room, "template \"%s\": %s", name, inner);
            return false;
        }
    }
    return true;
}

int engine_config_load(struct engine_config *config, const char *path,
                       const struct host_facts *host, char *message, size_t room) {
    *config = (struct engine_config){0};
    char why[512];
    bool there = true;
    if (path[0])
        snprintf(config->path, sizeof config->path, "%s", path);
    else
        there = engine_config_default_path(config->path) &&
                (access(config->path, F_OK) == 0 || errno != ENOENT);
    if (!there)
        config->path[0] = '\0';
    snprintf(message, room, "out of memory");
    config->file = there ? load(config->path, message, room) : json_object();
    if (!config->file)
        return -1;
    limits_defaults(&config->limits, host);
    limits_override(&config->limits, fields_get(config->file, "limits"));
    int many = host->memory_mb / MB_PER_SANDBOX;
    config->max_sandboxes = (int)fields_integer(
        config->file, "maxSandboxes", many > LEAST_MAX_SANDBOXES ? many : LEAST_MAX_SANDBOXES);
    config->max_memory = fields_integer(config->file, "maxMemoryMB",
                                        (json_int_t)host->memory_mb * MEMORY_OVERCOMMIT) *
                         LIMITS_MIB;
    config->max_snapshots =
        (uint64_t)(fields_integer(config->file, "maxSnapshotsMB", MAX_SNAPSHOTS_MB) * LIMITS_MIB);
    if (all_fit(config, host, why, sizeof why))
        return 0;
    snprintf(message, room, "the configuration %s is wrong: %s", config->path, why);
    engine_config_free(config);
    return -1;
}

void engine_config_free(struct engine_config *config) {
    json_decref(config->file);
    config->file = NULL;
}

json_t *engine_config_network(const struct engine_config *config) {
    return fields_get(config->file, "network");
}
