/*
 * api_key.h - whether a client of the TCP address gave the key.
 */
#ifndef STEPBOX_API_KEY_H
#define STEPBOX_API_KEY_H

#include <stdbool.h>
#include <stddef.h>

/* In a time that does not tell where the difference is. given may be NULL. */
bool api_key_is(const char *key, const char *given, size_t length);

/* What to tell who gave none, or this one. */
const char *api_key_complaint(const char *given);

#endif
