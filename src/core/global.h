/*
 * global.h - what is set up once per process and never taken down.
 */
#ifndef STEPBOX_CORE_GLOBAL_H
#define STEPBOX_CORE_GLOBAL_H

#include "stepbox.h"

/* Initialises libcurl, and afterwards registers the kill of owned sandboxes at exit. Never undone:
 * the host may use libcurl too. */
int sbi_global_init(sb_error *err);

#endif
