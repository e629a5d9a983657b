/*
 * step_stream.h - the answer to a step: lines of JSON, each an event, ended by "end_of_execution".
 */
#ifndef STEPBOX_CORE_STEP_STREAM_H
#define STEPBOX_CORE_STEP_STREAM_H

#include "error.h"
#include "execution.h"
#include "ndjson.h"

#define SBI_MAX_LINE (64u * 1024 * 1024)

struct sbi_step_stream {
    struct sbi_execution *execution;
    struct sbi_lines lines;
    struct sbi_buffer text; /* a piece of output, unescaped */
    bool has_ended;         /* the end was said; what follows is not looked at */
    sb_error lost;          /* the runner died, as the server told it in passing */
};

void sbi_step_stream_init(struct sbi_step_stream *stream, struct sbi_execution *execution);
void sbi_step_stream_free(struct sbi_step_stream *stream);

/* Takes bytes of the answer; 0, or -1 with err. */
int sbi_step_stream_data(struct sbi_step_stream *stream, const char *bytes, size_t length,
                         sb_error *err);

/* The answer came whole: takes a last line that has no end. */
int sbi_step_stream_end(struct sbi_step_stream *stream, sb_error *err);

#endif
