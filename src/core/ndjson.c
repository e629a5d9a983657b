#include "ndjson.h"

#include <string.h>

/* Memory that is kept for the next line that comes in pieces. */
#define KEEP (256u * 1024)

void sbi_lines_init(struct sbi_lines *lines, size_t max_line) {
    sbi_buffer_init(&lines->pending, max_line);
    lines->is_handed_out = false;
}

void sbi_lines_free(struct sbi_lines *lines) {
    sbi_buffer_free(&lines->pending);
}

static void take_back(struct sbi_lines *lines) {
    if (lines->is_handed_out) {
        sbi_buffer_clear(&lines->pending, KEEP);
        lines->is_handed_out = false;
    }
}

static enum sbi_parse keep(struct sbi_lines *lines, const char *bytes, size_t length) {
    switch (sbi_buffer_append(&lines->pending, bytes, length)) {
    case SB_OK:
        return SBI_PARSE_MORE;
    case SB_TOO_LARGE:
        return SBI_PARSE_TOO_LARGE;
    default:
        return SBI_PARSE_NO_MEMORY;
    }
}

enum sbi_parse sbi_lines_next(struct sbi_lines *lines, const char **bytes, size_t *left,
                              const char **line, size_t *length) {
    take_back(lines);
    if (*left == 0) {
        return SBI_PARSE_MORE;
    }
    const char *begin = *bytes, *newline = memchr(begin, '\n', *left);
    size_t used = newline != NULL ? (size_t)(newline - begin) : *left;
    *bytes += used + (newline != NULL);
    *left -= used + (newline != NULL);
    if (newline != NULL && lines->pending.length == 0) {
        *line = begin;
        *length = used;
        return used <= lines->pending.max ? SBI_PARSE_ITEM : SBI_PARSE_TOO_LARGE;
    }
    enum sbi_parse kept = keep(lines, begin, used);
    if (newline == NULL || kept != SBI_PARSE_MORE) {
        return kept;
    }
    *line = lines->pending.data;
    *length = lines->pending.length;
    lines->is_handed_out = true;
    return SBI_PARSE_ITEM;
}

const char *sbi_lines_rest(struct sbi_lines *lines, size_t *length) {
    take_back(lines);
    *length = lines->pending.length;
    return sbi_buffer_string(&lines->pending);
}
