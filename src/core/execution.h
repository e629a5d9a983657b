/*
 * execution.h - what a step has given so far: output, results, error.
 *
 * Output is kept up to a bound and counted on beyond it; everything grows in linear time. The
 * public view is made from it on demand, since what grows moves.
 */
#ifndef STEPBOX_CORE_EXECUTION_H
#define STEPBOX_CORE_EXECUTION_H

#include "buffer.h"
#include "events.h"

#include <jansson.h>

/* Bytes that all results of one step may have. */
#define SBI_MAX_RESULTS (256u * 1024 * 1024)
/* Pieces of output that are told apart; later ones are joined to the last of their stream. */
#define SBI_MAX_LOGS (256u * 1024)

/* A piece of output, as a place in the bytes of its stream. */
struct sbi_piece {
    sb_stream stream;
    double time;
    size_t offset, length;
};

struct sbi_execution {
    struct sbi_buffer out, err;
    bool out_truncated, err_truncated;
    uint64_t dropped; /* bytes that the server dropped, output and results */
    struct sbi_piece *pieces;
    size_t piece_count, piece_capacity;
    size_t last_piece[3]; /* of each stream, by its number; index + 1, 0: none */
    sb_result *results;
    size_t result_count, result_capacity;
    size_t result_bytes;
    sb_step_error error;
    bool has_error;
    int64_t count; /* execution_count */
    bool restarted;
    double duration;
    struct sbi_events *events; /* NULL: nobody reads them */
    sb_execution view;
    sb_log *logs; /* of the view */
};

void sbi_execution_init(struct sbi_execution *execution, uint64_t max_output,
                        struct sbi_events *events);
void sbi_execution_free(struct sbi_execution *execution);

/* Each takes 0, or -1 with err. */
int sbi_execution_add_output(struct sbi_execution *execution, sb_stream stream, double time,
                             const char *bytes, size_t length, sb_error *err);
/* A "result" line. */
int sbi_execution_add_result(struct sbi_execution *execution, const json_t *line, sb_error *err);
/* An "error" line; a second one is dropped. */
int sbi_execution_set_error(struct sbi_execution *execution, const json_t *line, sb_error *err);

/* The public view; valid until more arrives. Without memory for the logs it has none. */
const sb_execution *sbi_execution_view(struct sbi_execution *execution);

#endif
