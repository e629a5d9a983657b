/*
 * line_reader.h - splits a stream of bytes into lines of bounded length.
 */
#ifndef STEPBOX_LINE_READER_H
#define STEPBOX_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

/* Starts zeroed but for max, the bytes of the longest line taken. */
typedef struct line_reader {
    size_t max;
    char *bytes;
    size_t start, scanned, end, capacity; /* bytes[start..end) are not taken yet */
} line_reader;

/* Where to put the next bytes, and how many. NULL when the line is too long or memory is short. */
char *line_reader_room(line_reader *reader, size_t *room);
/* So many bytes were put there. */
void line_reader_put(line_reader *reader, size_t length);
/* The next whole line, without its newline but with a NUL instead; valid until the next call of
 * line_reader_room(). NULL when there is none, or it is too long. */
char *line_reader_next(line_reader *reader, size_t *length);
/* After line_reader_next() gave none: whether that is since the line is too long. */
bool line_reader_is_over(const line_reader *reader);
void line_reader_free(line_reader *reader);

#endif
