/*
 * output_line.h - reads the lines that make up nearly all of a large answer,
 * {"type": "stdout", "text": "...", "timestamp": "..."}, several times faster than a general JSON
 * parser.
 */
#ifndef STEPBOX_CORE_OUTPUT_LINE_H
#define STEPBOX_CORE_OUTPUT_LINE_H

#include "buffer.h"

struct sbi_output_line {
    sb_stream stream;
    const char *text; /* still with its escapes; into the line */
    size_t text_length;
    const char *timestamp; /* NULL when there is none */
    size_t timestamp_length;
};

/* True when line is of this form exactly, and of ASCII. What it is otherwise is for others to say.
 */
bool sbi_output_line_read(const char *line, size_t length, struct sbi_output_line *out);

/* Appends a JSON string's content with its escapes undone; a surrogate that has no partner becomes
 * U+FFFD. SB_PROTOCOL when an escape is none. */
sb_code sbi_json_unescape(struct sbi_buffer *out, const char *text, size_t length);

/* Replaces, in place, \u escapes of surrogates without a partner by \ufffd: JSON forbids them, but
 * a server writes what the code in the sandbox printed. Returns whether there were any. */
bool sbi_json_mend_surrogates(char *text, size_t length);

#endif
