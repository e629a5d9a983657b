/*
 * command_request.h - the messages that start a program in a sandbox and name a process.
 */
#ifndef STEPBOX_CORE_COMMAND_REQUEST_H
#define STEPBOX_CORE_COMMAND_REQUEST_H

#include "exchange.h"

#include <jansson.h>

#define SBI_PATH_START "/process.Process/Start"
#define SBI_PATH_SIGNAL "/process.Process/SendSignal"

/* A new reference, or NULL with SB_INVALID for what cannot be started. */
json_t *sbi_command_message(const char *command, const sb_command_options *options, sb_error *err);

/* "Connect-Timeout-Ms", after which the server ends the program; INFINITY: none. */
int sbi_command_timeout(struct sbi_exchange *exchange, double seconds, sb_error *err);

/* -1 with SB_INVALID unless a terminal can have that size; and the size as the protocol's PTY, NULL
 * without memory. */
int sbi_check_terminal_size(unsigned cols, unsigned rows, sb_error *err);
json_t *sbi_terminal_size(unsigned cols, unsigned rows);

/* Which process a call is for, as {"pid": 7} or {"tag": "x"}; NULL with SB_INVALID. */
json_t *sbi_process_selector(const sb_process *process, sb_error *err);

#endif
