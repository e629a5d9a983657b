/*
 * create_key.h - the key under which a sandbox is made, so that the request can be sent again when
 * its connection broke, and finds the first one's sandbox.
 */
#ifndef STEPBOX_CORE_CREATE_KEY_H
#define STEPBOX_CORE_CREATE_KEY_H

#include "stepbox.h"

#include <stdbool.h>

#define SBI_CREATE_KEY_SIZE 256

/* The caller's key; without one (NULL) a new one for the local engine, and "" for servers, of which
 * it is not known whether they heed keys. 0, or -1 with err. */
int sbi_create_key(char key[SBI_CREATE_KEY_SIZE], const char *given, bool is_local, sb_error *err);

#endif
