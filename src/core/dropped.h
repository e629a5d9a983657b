/*
 * dropped.h - what the server says that it has dropped of a step's or a command's output:
 * {"stdout": BYTES, "stderr": BYTES, "results": BYTES}, each of which may be absent. It comes
 * beside a line for people on stderr, which is no output of the code.
 */
#ifndef STEPBOX_CORE_DROPPED_H
#define STEPBOX_CORE_DROPPED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether the event ("dropped" in it) says so; adds the bytes, and marks the streams. */
bool sbi_dropped_take(const json_t *event, uint64_t *bytes, bool *out, bool *err);

#endif
