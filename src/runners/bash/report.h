/*
 * report.h - what the supervisor tells the agent.
 */
#ifndef STEPBOX_BASH_REPORT_H
#define STEPBOX_BASH_REPORT_H

#include "shared_step.h"

#include "wire.h"

void report_ready(const struct wire *wire);
void report_count(const struct wire *wire, int count);
void report_error(const struct wire *wire, const char *name, const char *value,
                  const char *traceback);
/* The event with which the code of a step ends. */
void report_outcome(const struct wire *wire, const struct shared_step *step);
void report_end(const struct wire *wire, bool leaving);

#endif
