/*
 * command_output.h - what a process in a sandbox has told so far: its id, its output, its end. What
 * commands, connections to a process and setup commands have in common.
 *
 * Output is kept up to a bound of each stream, and read on beyond it; it grows in linear time.
 */
#ifndef STEPBOX_CORE_COMMAND_OUTPUT_H
#define STEPBOX_CORE_COMMAND_OUTPUT_H

#include "buffer.h"
#include "events.h"
#include "rpc_stream.h"

struct sbi_command_output {
    struct sbi_rpc_stream stream;
    struct sbi_buffer out, err;
    struct sbi_buffer piece;   /* decoded output that is not kept, or not whole */
    struct sbi_events *events; /* NULL: nobody reads them */
    int64_t pid;               /* 0: not known yet */
    bool out_truncated, err_truncated;
    uint64_t dropped; /* bytes that the server dropped beyond a limit of its own */
    bool has_ended;   /* the process's end was told */
    bool has_exited;
    int exit_code; /* when it has exited */
    char how[200]; /* how it ended, when not by exiting; "" else */
    sb_command_result view;
};

/* missing: what the service's not_found means. */
void sbi_command_output_init(struct sbi_command_output *output, uint64_t max_output,
                             struct sbi_events *events, sb_code missing);
void sbi_command_output_free(struct sbi_command_output *output);

/* Takes bytes of the answer; 0, or -1 with err. */
int sbi_command_output_data(struct sbi_command_output *output, const struct sbi_exchange *exchange,
                            const char *bytes, size_t length, sb_error *err);

/* After the exchange: 0 when the process's end was told, else -1 with why not. */
int sbi_command_output_result(const struct sbi_command_output *output,
                              const struct sbi_exchange *exchange, sb_error *err);

/* The public view; valid until more arrives. */
const sb_command_result *sbi_command_output_view(struct sbi_command_output *output,
                                                 const char *command);

#endif
