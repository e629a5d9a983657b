/*
 * output_budget.h - the bound of what one step, or one command, may put out, and what was dropped
 * beyond it.
 *
 * The code is not held up: what it writes is read on and counted. Once a byte of output is dropped
 * all that follows is, so that what arrives has no gap in it. Results stand each for itself.
 */
#ifndef STEPBOX_OUTPUT_BUDGET_H
#define STEPBOX_OUTPUT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that a piece of output counts for at least, since whoever keeps it keeps more than its
 * text: a million pieces of one byte are no megabyte. */
#define OUTPUT_PIECE_LEAST 64
/* An error of this size is passed on in any case, once: why code failed matters most. */
#define OUTPUT_ERROR_FREE ((size_t)64 * 1024)
/* Bytes of output_budget_tell() at most, its NUL included. */
#define OUTPUT_BUDGET_TEXT 256

enum { OUTPUT_BUDGET_STDOUT, OUTPUT_BUDGET_STDERR, OUTPUT_BUDGET_STREAMS };

typedef struct output_budget {
    uint64_t limit; /* bytes; 0: none */
    uint64_t used;
    bool closed;    /* output was dropped */
    bool mid_line;  /* the last of stderr that passed was no end of a line */
    bool has_error; /* one was passed on */
    uint64_t dropped[OUTPUT_BUDGET_STREAMS]; /* bytes */
    uint64_t results, result_bytes;          /* results and errors that were dropped */
} output_budget;

void output_budget_begin(output_budget *budget, uint64_t limit);

/* How many of these bytes pass: all of them, or up to the end of a whole character. */
size_t output_budget_take(output_budget *budget, int stream, const char *bytes, size_t length);
/* A piece of output leaves with so many bytes, which were taken. */
void output_budget_piece(output_budget *budget, size_t length);
/* Whether a result, or an error, of so many bytes passes. */
bool output_budget_take_result(output_budget *budget, size_t length);
bool output_budget_take_error(output_budget *budget, size_t length);

bool output_budget_is_over(const output_budget *budget);
/* Says in one sentence what was dropped. `what` is bounded: "step" or "command". */
void output_budget_tell(const output_budget *budget, const char *what,
                        char text[OUTPUT_BUDGET_TEXT]);

#endif
