/*
 * create_fields.h - the body of POST /sandboxes: what E2B's API knows, and what of it this engine
 * can honour.
 */
#ifndef STEPBOX_CREATE_FIELDS_H
#define STEPBOX_CREATE_FIELDS_H

#include "fields.h"

/* For fields_parse(). `version` is 1 or 2, the generation of the API. */
const struct field_rule *create_fields(int version);

/* The name of a template, or NULL when there is none with this id. */
const char *template_alias(const char *id);

#endif
