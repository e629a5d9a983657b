/*
 * file_error.h - what a failed call about files means.
 */
#ifndef STEPBOX_CORE_FILE_ERROR_H
#define STEPBOX_CORE_FILE_ERROR_H

#include "exchange.h"

/* 0 when the exchange brought a 2xx, else -1 with what failed, in the codes of files. SB_NOT_FOUND
 * is about the path alone: that the sandbox is gone is SB_SANDBOX_LOST. */
int sbi_file_check(const struct sbi_exchange *exchange, sb_error *err);

/* The answer's JSON, a new reference, or NULL with err. */
json_t *sbi_file_answer(const struct sbi_exchange *exchange, sb_error *err);

/* Refines what the server of the sandbox said itself: its code may say less than its text. */
void sbi_file_refine(sb_error *error);

/* -1 with SB_BAD_PATH unless it may be a path. In JSON it has to be UTF-8. `what` begins the
 * message. */
int sbi_file_check_path(const char *path, const char *what, bool is_json, sb_error *err);

#endif
