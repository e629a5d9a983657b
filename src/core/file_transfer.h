/*
 * file_transfer.h - what reads and writes of files have in common.
 */
#ifndef STEPBOX_CORE_FILE_TRANSFER_H
#define STEPBOX_CORE_FILE_TRANSFER_H

#include "box.h"

/* -1 with err unless path and idle_timeout may be such. */
int sbi_transfer_check(const char *path, double idle_timeout, sb_error *err);

/* Describes op's exchange of "/files?path=..." on the box's sandbox; a transfer has no deadline but
 * idle_timeout (0: the default). NULL with err. */
struct sbi_exchange *sbi_transfer_exchange(sb_op *op, sb_box *box, const char *method,
                                           const char *path, const char *user, double idle_timeout,
                                           void (*done)(void *op, struct sbi_exchange *exchange),
                                           sb_error *err);

#endif
