/* output_budget.c - see output_budget.h */
#include "output_budget.h"

#include <inttypes.h>
#include <stdio.h>

void output_budget_begin(output_budget *budget, uint64_t limit) {
    *budget = (output_budget){.limit = limit};
}

static uint64_t left_of(const output_budget *budget) {
    return budget->used < budget->limit ? budget->limit - budget->used : 0;
}

/* The most of these bytes, and no more than `most`, that do not end within a character of UTF-8. */
static size_t whole_characters(const char *bytes, size_t most) {
    size_t end = most;
    for (int i = 0; i < 3 && end > 0 && ((unsigned char)bytes[end] & 0xc0) == 0x80; i++)
        end--;
    /* What is no UTF-8 may be cut anywhere. */
    return ((unsigned char)bytes[end] & 0xc0) == 0x80 ? most : end;
}

size_t output_budget_take(output_budget *budget, int stream, const char *bytes, size_t length) {
    if (!budget->limit)
        return length;
    size_t passes = length;
    uint64_t left = budget->closed ? 0 : left_of(budget);
    if (length > left) {
        passes = whole_characters(bytes, (size_t)left);
        budget->closed = true;
        budget->dropped[stream] += length - passes;
    }
    budget->used += passes;
    if (passes && stream == OUTPUT_BUDGET_STDERR)
        budget->mid_line = bytes[passes - 1] != '\n';
    return passes;
}

void output_budget_piece(output_budget *budget, size_t length) {
    if (length < OUTPUT_PIECE_LEAST)
        budget->used += OUTPUT_PIECE_LEAST - length;
}

static bool take_whole(output_budget *budget, size_t length, bool is_free) {
    if (!budget->limit || length <= left_of(budget)) {
        budget->used += length;
        return true;
    }
    if (is_free)
        return true;
    budget->results++;
    budget->result_bytes += length;
    return false;
}

bool output_budget_take_result(output_budget *budget, size_t length) {
    return take_whole(budget, length, false);
}

bool output_budget_take_error(output_budget *budget, size_t length) {
    bool passes = take_whole(budget, length, !budget->has_error && length <= OUTPUT_ERROR_FREE);
    budget->has_error |= passes;
    return passes;
}

bool output_budget_is_over(const output_budget *budget) {
    return budget->closed || budget->results;
}

void output_budget_tell(const output_budget *budget, const char *what,
                        char text[OUTPUT_BUDGET_TEXT]) {
    char output[64] = "", results[96] = "";
    uint64_t bytes = budget->dropped[OUTPUT_BUDGET_STDOUT] + budget->dropped[OUTPUT_BUDGET_STDERR];
    if (bytes)
        snprintf(output, sizeof output, "%" PRIu64 " bytes of output%s", bytes,
                 budget->results ? ", " : "");
    if (budget->results)
        snprintf(results, sizeof results, "%" PRIu64 " result%s or error%s of %" PRIu64 " bytes",
                 budget->results, budget->results > 1 ? "s" : "", budget->results > 1 ? "s" : "",
                 budget->result_bytes);
    snprintf(text, OUTPUT_BUDGET_TEXT,
             "dropped beyond the sandbox's limit of output, %" PRIu64 " bytes for each %s: %s%s",
             budget->limit, what, output, results);
}
