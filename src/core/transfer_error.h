/*
 * transfer_error.h - what libcurl's results mean.
 */
#ifndef STEPBOX_CORE_TRANSFER_ERROR_H
#define STEPBOX_CORE_TRANSFER_ERROR_H

#include "exchange.h"

/* Sets exchange->error and exchange->was_cut from the result of a failed transfer. An error that
 * was set before (by the reader of the answer) stays. */
void sbi_transfer_error(struct sbi_exchange *exchange, CURLcode result);

#endif
