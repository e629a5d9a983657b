#include "fields.h"

#include <stdio.h>
#include <string.h>

#define MAX_METADATA (64 * 1024)
#define MAX_VARIABLES (256 * 1024)

bool field_integer(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    if (json_is_integer(value) && json_integer_value(value) >= rule->least &&
        json_integer_value(value) <= rule->most)
        return true;
    snprintf(why, room, "must be an integer from %lld to %lld", (long long)rule->least,
             (long long)rule->most);
    return false;
}

bool field_boolean(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room, "must be true or false");
    return json_is_boolean(value);
}

bool field_string(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room, "must be a string that is not empty");
    return json_is_string(value) && json_string_length(value) > 0;
}

static bool is_string_map(json_t *value, size_t most, bool (*name_is_good)(const char *name),
                          char *why, size_t room) {
    snprintf(why, room, "must be an object of strings");
    if (!json_is_object(value))
        return false;
    size_t total = 0;
    const char *name;
    json_t *item;
    json_object_foreach(value, name, item) {
        if (!json_is_string(item)) {
            snprintf(why, room, "must be an object of strings: the value of \"%.100s\" is none",
                     name);
            return false;
        }
        if (name_is_good && !name_is_good(name)) {
            snprintf(why, room, "has a name that no environment variable can have: \"%.100s\"",
                     name);
            return false;
        }
        total += strlen(name) + json_string_length(item);
    }
    snprintf(why, room, "must not have more than %zu bytes in all", most);
    return total <= most;
}

bool field_metadata(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    return is_string_map(value, MAX_METADATA, NULL, why, room);
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

static bool is_variable_name(const char *name) {
    return strspn(name, LETTERS) > 0 && name[strspn(name, LETTERS "0123456789")] == '\0';
}

bool field_variables(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    return is_string_map(value, MAX_VARIABLES, is_variable_name, why, room);
}

static const struct field_rule *find(const struct field_rule *rules, const char *name) {
    for (; rules->name; rules++)
        if (strcmp(rules->name, name) == 0)
            return rules;
    return NULL;
}

bool fields_check(json_t *object, const struct field_rule *rules, char *message, size_t room) {
    const char *name;
    json_t *value;
    char why[512];
    json_object_foreach(object, name, value) {
        const struct field_rule *rule = find(rules, name);
        if (!rule) {
            snprintf(message, room, "unknown field \"%.100s\"", name);
            return false;
        }
        if (!json_is_null(value) && !rule->check(rule, value, why, sizeof why)) {
            snprintf(message, room, "field \"%s\" %s", name, why);
            return false;
        }
    }
    for (; rules->name; rules++) {
        if (rules->required && !fields_get(object, rules->name)) {
            snprintf(message, room, "field \"%s\" is missing", rules->name);
            return false;
        }
    }
    return true;
}

json_t *fields_parse(const char *body, size_t length, const struct field_rule *rules, bool optional,
                     char *message, size_t room) {
    json_error_t error;
    json_t *object = length == 0 && optional
                         ? json_object()
                         : json_loadb(body, length, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        if (length == 0)
            snprintf(message, room, "the body is empty: it must be a JSON object");
        else
            snprintf(message, room, "the body is not valid JSON: %s", error.text);
        return NULL;
    }
    if (!json_is_object(object))
        snprintf(message, room, "the body must be a JSON object");
    else if (fields_check(object, rules, message, room))
        return object;
    json_decref(object);
    return NULL;
}

json_t *fields_get(json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

json_int_t fields_integer(json_t *object, const char *name, json_int_t otherwise) {
    json_t *value = fields_get(object, name);
    return value ? json_integer_value(value) : otherwise;
}

bool fields_boolean(json_t *object, const char *name, bool otherwise) {
    json_t *value = fields_get(object, name);
    return value ? json_is_true(value) : otherwise;
}
