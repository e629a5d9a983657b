/*
 * create_limits.h - the limits of sb_create_options on the wire.
 */
#ifndef STEPBOX_CORE_CREATE_LIMITS_H
#define STEPBOX_CORE_CREATE_LIMITS_H

#include "stepbox.h"

#include <jansson.h>

/* Adds "limits" to the body when there are any. `local`: the server is the local engine. 0, or -1
 * with err. */
int sbi_create_limits(json_t *body, const sb_limits *limits, bool local, sb_error *err);

#endif
