/*
 * context_fault.h - what it means when a server refuses to run code, or to make a context.
 */
#ifndef STEPBOX_CORE_CONTEXT_FAULT_H
#define STEPBOX_CORE_CONTEXT_FAULT_H

#include "exchange.h"

/* As sbi_exchange_check(); a language that the sandbox does not have is SB_UNSUPPORTED, with what
 * the server says of it. */
int sbi_context_check(const struct sbi_exchange *exchange, sb_error *err);

#endif
