/*
 * json_answer.h - operations whose value is the server's answer as it came.
 */
#ifndef STEPBOX_CORE_JSON_ANSWER_H
#define STEPBOX_CORE_JSON_ANSWER_H

#include "op.h"

/* Keeps the answer, an object, as the operation's value. 0, or -1 with what failed. */
int sbi_keep_json_answer(sb_op *op, const struct sbi_exchange *exchange, sb_error *err);
/* The same for a list. */
int sbi_keep_json_list(sb_op *op, const struct sbi_exchange *exchange, sb_error *err);

#endif
