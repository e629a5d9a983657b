/*
 * fields.h - checks JSON bodies against a table of the fields that an operation knows.
 *
 * Whatever is not in the table, or does not fit, is refused by name: nothing that a client asks for
 * is swallowed.
 */
#ifndef STEPBOX_FIELDS_H
#define STEPBOX_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define MAX_TIMEOUT (24 * 60 * 60) /* seconds */

struct field_rule;

/* Says whether value (never null) is right; if not, writes what it must be: "must be ..." or "...:
 * ...". */
typedef bool field_check(const struct field_rule *rule, json_t *value, char *why, size_t room);

struct field_rule {
    const char *name;
    field_check *check;
    bool required;          /* else it may be absent, or null */
    json_int_t least, most; /* for field_integer */
};

/* A row of a table that needs no more than this. */
/* The versions of clang-format disagree about what follows. */
/* clang-format off */
#define FIELD(field, how) {.name = (field), .check = (how)}
/* clang-format on */

field_check field_integer; /* least..most */
field_check field_boolean;
field_check field_string;    /* not empty */
field_check field_metadata;  /* an object of strings, 64 KiB in all */
field_check field_variables; /* an object of strings whose names can be environment variables, 256
                                KiB in all */

/* Parses a body and checks it against the rules (up to one with no name). An empty body counts as
 * {} when `optional`. Returns a new reference to an object, or NULL with a message that names the
 * field. */
json_t *fields_parse(const char *body, size_t length, const struct field_rule *rules, bool optional,
                     char *message, size_t room);

/* Checks an object that has been parsed. False with a message that names the field. */
bool fields_check(json_t *object, const struct field_rule *rules, char *message, size_t room);

/* The value of a field, or NULL when it is absent or null. Borrowed. */
json_t *fields_get(json_t *object, const char *name);
/* The same for integers and booleans, with what holds when there is none. */
json_int_t fields_integer(json_t *object, const char *name, json_int_t otherwise);
bool fields_boolean(json_t *object, const char *name, bool otherwise);

#endif
