/*
 * setup.h - one setup command: a process in the sandbox, run to its end.
 */
#ifndef STEPBOX_CORE_SETUP_H
#define STEPBOX_CORE_SETUP_H

#include "connect_frame.h"
#include "events.h"
#include "exchange.h"

/* What the command writes is kept up to this many bytes of each stream. */
#define SBI_MAX_SETUP_OUTPUT (1024u * 1024)

struct sbi_setup {
    struct sbi_frames frames;
    struct sbi_buffer out, err;
    struct sbi_events *events; /* NULL: nobody reads them */
    bool has_ended;
    int exit_code;
    char why[200];  /* how it ended, when not by exiting; "" else */
    sb_error error; /* what the server said instead of an end */
};

void sbi_setup_init(struct sbi_setup *setup, struct sbi_events *events);
void sbi_setup_free(struct sbi_setup *setup);

/* Describes the request that runs a command. */
int sbi_setup_request(struct sbi_exchange *exchange, const struct sbi_address *address,
                      const char *command, sb_error *err);

/* Takes bytes of the answer. 0, or -1 with err. */
int sbi_setup_data(struct sbi_setup *setup, const char *bytes, size_t length, sb_error *err);

/* After the exchange: 0 when the command exited with 0, else -1. */
int sbi_setup_result(const struct sbi_setup *setup, const struct sbi_exchange *exchange,
                     const char *command, sb_error *err);

#endif
