/*
 * sandbox_etc.h - the /etc of a sandbox: its own accounts and hosts, and what programs want of the
 * host's.
 */
#ifndef STEPBOX_SANDBOX_ETC_H
#define STEPBOX_SANDBOX_ETC_H

#include "payload.h"

/* Adds the files. What cannot be read on this host is left out. 0, or -1 with errno when out of
 * memory. */
int sandbox_etc_add(struct payload *payload);

#endif
