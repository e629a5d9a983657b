/*
 * ndjson.h - lines out of a stream.
 */
#ifndef STEPBOX_CORE_NDJSON_H
#define STEPBOX_CORE_NDJSON_H

#include "buffer.h"
#include "parse.h"

struct sbi_lines {
    struct sbi_buffer
        pending;        /* the begin of a line whose end has not come; its max bounds lines */
    bool is_handed_out; /* pending is the line that was given last */
};

void sbi_lines_init(struct sbi_lines *lines, size_t max_line);
void sbi_lines_free(struct sbi_lines *lines);

/* The next line, without its end. It points into *bytes or into the parser, until the next call. */
enum sbi_parse sbi_lines_next(struct sbi_lines *lines, const char **bytes, size_t *left,
                              const char **line, size_t *length);

/* What is left when the stream has ended: a last line without an end, or nothing (length 0). */
const char *sbi_lines_rest(struct sbi_lines *lines, size_t *length);

#endif
