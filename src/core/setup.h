/*
 * setup.h - one setup command: a process in the sandbox, run to its end.
 */
#ifndef STEPBOX_CORE_SETUP_H
#define STEPBOX_CORE_SETUP_H

#include "command_output.h"

/* What the command writes is kept up to this many bytes of each stream. */
#define SBI_MAX_SETUP_OUTPUT (1024u * 1024)

/* Describes the request that runs a command in the default user's home. */
int sbi_setup_request(struct sbi_exchange *exchange, const struct sbi_address *address,
                      const char *command, sb_error *err);

/* After the exchange: 0 when the command exited with 0, else -1. */
int sbi_setup_result(const struct sbi_command_output *output, const struct sbi_exchange *exchange,
                     const char *command, sb_error *err);

#endif
