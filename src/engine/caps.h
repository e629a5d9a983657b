/*
 * caps.h - how many sandboxes this engine holds, and how much memory they may be promised in all.
 *
 * A sandbox counts from the moment it is asked for, and no more from the moment something ends it:
 * the place is free while its processes are still dying.
 */
#ifndef STEPBOX_CAPS_H
#define STEPBOX_CAPS_H

#include <jansson.h>
#include <stdbool.h>

#include "engine_config.h"
#include "sandbox.h"

/* Seconds after which it may be worth to ask again. */
#define CAPS_RETRY_AFTER "5"

/* Whether there is room for one more. If not, message says what is full. */
bool caps_admit(const struct engine_config *config, const struct sandboxes *set,
                const struct limits *wanted, char *message, size_t room);

/* For GET /engine: the caps, and what is taken of them. */
json_t *caps_describe(const struct engine_config *config, const struct sandboxes *set);

#endif
