/*
 * result.h - one result of a step in its formats.
 */
#ifndef STEPBOX_CORE_RESULT_H
#define STEPBOX_CORE_RESULT_H

#include "stepbox.h"

#include <jansson.h>

/* From a "result" line. Images are decoded to bytes, structures become JSON text. -1 with
 * SB_PROTOCOL. */
int sbi_result_parse(sb_result *result, const json_t *line, sb_error *err);
void sbi_result_free(sb_result *result);

#endif
