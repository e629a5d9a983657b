/* line_reader.c - one buffer that grows with the longest line and is given back after it. */
#include "line_reader.h"

#include <stdlib.h>
#include <string.h>

#define READ_SIZE (64 * 1024)
#define KEEP_CAPACITY (4 * READ_SIZE)

char *line_reader_room(line_reader *reader, size_t *room) {
    size_t length = reader->end - reader->start;
    if (line_reader_is_over(reader))
        return NULL;
    if (length == 0 && reader->capacity > KEEP_CAPACITY) {
        line_reader_free(reader);
    } else if (reader->start) {
        memmove(reader->bytes, reader->bytes + reader->start, length);
        reader->scanned -= reader->start;
        reader->end = length;
        reader->start = 0;
    }
    if (reader->capacity - reader->end < READ_SIZE / 2) {
        size_t capacity = reader->capacity ? reader->capacity * 2 : READ_SIZE;
        char *bytes = realloc(reader->bytes, capacity);
        if (!bytes)
            return NULL;
        reader->bytes = bytes;
        reader->capacity = capacity;
    }
    *room = reader->capacity - reader->end;
    return reader->bytes + reader->end;
}

void line_reader_put(line_reader *reader, size_t length) {
    reader->end += length;
}

char *line_reader_next(line_reader *reader, size_t *length) {
    if (reader->scanned == reader->end)
        return NULL;
    char *newline = memchr(reader->bytes + reader->scanned, '\n', reader->end - reader->scanned);
    if (!newline) {
        reader->scanned = reader->end;
        return NULL;
    }
    char *line = reader->bytes + reader->start;
    if ((size_t)(newline - line) > reader->max)
        return NULL;
    *newline = '\0';
    *length = (size_t)(newline - line);
    reader->start = reader->scanned = (size_t)(newline - reader->bytes) + 1;
    return line;
}

bool line_reader_is_over(const line_reader *reader) {
    return reader->end - reader->start > reader->max;
}

void line_reader_free(line_reader *reader) {
    free(reader->bytes);
    *reader = (line_reader){.max = reader->max};
}
