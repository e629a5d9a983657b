/*
 * create_body.h - what create asks a server for.
 */
#ifndef STEPBOX_CORE_CREATE_BODY_H
#define STEPBOX_CORE_CREATE_BODY_H

#include "stepbox.h"

#include <jansson.h>
#include <stdbool.h>

/* The body of the request, a new reference. local: it goes to the local engine, which alone takes
 * limits. NULL with err. */
json_t *sbi_create_body(const sb_create_options *options, bool local, sb_error *err);

#endif
