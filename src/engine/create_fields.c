#include "create_fields.h"

#include <stdio.h>
#include <string.h>

#include "network_config.h"
#include "sandbox_limits.h"

/* Fields that ask for what is not offered here are right only with the value that asks for nothing.
 */

static bool with_memory(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room, "must be true or absent: this engine keeps the memory of what it pauses");
    return json_is_true(value);
}

static bool auto_resume(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room, "must be {\"enabled\": true} or {\"enabled\": false}");
    return json_is_object(value) && json_object_size(value) == 1 &&
           json_is_boolean(json_object_get(value, "enabled"));
}

static bool empty(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room, "is not supported by this engine: it must be empty or absent");
    return (json_is_object(value) && json_object_size(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

/* {} or {"tokens": {}} */
static bool empty_iam(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    json_t *tokens = json_object_get(value, "tokens");
    return empty(rule, value, why, room) ||
           (json_object_size(value) == 1 && tokens && empty(rule, tokens, why, room));
}

static bool always_secure(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room, "must be true or absent: sandboxes of /v2/sandboxes are always secure");
    return json_is_true(value);
}

/* What both generations know; they differ in what `secure` may be. */
/* The versions of clang-format disagree about what follows. */
/* clang-format off */
#define FIELDS_WITH(secure_check)                                                                  \
    {                                                                                              \
        {.name = "templateID", .check = field_string, .required = true},                           \
        {.name = "timeout", .check = field_integer, .least = 1, .most = MAX_TIMEOUT},              \
        FIELD("metadata", field_metadata),                                                         \
        FIELD("envVars", field_variables),                                                         \
        FIELD("secure", secure_check),                                                             \
        FIELD("autoPause", field_boolean),                                                         \
        FIELD("autoPauseMemory", with_memory),                                                     \
        FIELD("autoResume", auto_resume),                                                          \
        FIELD("allow_internet_access", field_boolean),                                             \
        FIELD("network", network_field),                                                           \
        FIELD("mcp", empty),                                                                       \
        FIELD("iam", empty_iam),                                                                   \
        FIELD("volumeMounts", empty),                                                              \
        FIELD("limits", limits_field),                                                             \
        FIELD(NULL, NULL)                                                                          \
    }
/* clang-format on */

const struct field_rule *create_fields(int version) {
    static const struct field_rule first[] = FIELDS_WITH(field_boolean);
    static const struct field_rule second[] = FIELDS_WITH(always_secure);
    return version == 1 ? first : second;
}

const char *template_alias(const char *id) {
    static const char *const known[] = {"base", "code-interpreter-v1", "code-interpreter"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], id) == 0)
            return known[i];
    return NULL;
}
