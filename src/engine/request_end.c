#include "request_end.h"

/* A chunk's size line (with extensions) and the line of a trailer. */
#define MAX_LINE 4096

enum {
    COUNTED,   /* `left` bytes, then the end */
    SIZE,      /* the digits of a chunk's size */
    EXTENSION, /* the rest of that line */
    DATA,      /* `left` bytes of the chunk */
    DATA_END,  /* the line break behind it */
    TRAILER,   /* the lines behind the last chunk, up to an empty one */
    ENDED
};

void request_end_init(struct request_end *end, const struct route *route) {
    *end = (struct request_end){.state = route->chunked ? SIZE : COUNTED,
                                .left = route->content_length};
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static int after_size(struct request_end *end) {
    end->line_length = 0;
    return end->left ? DATA : TRAILER;
}

/* One byte that is not data. Returns the next state. */
static int step(struct request_end *end, char c) {
    if (++end->line_length > MAX_LINE)
        return ENDED;
    int digit;
    switch (end->state) {
    case SIZE:
        digit = hex_digit(c);
        if (digit >= 0) {
            if (end->left >> 58)
                return ENDED; /* no honest chunk is that large */
            end->left = end->left << 4 | (uint64_t)digit;
            return SIZE;
        }
        if (end->line_length == 1)
            return ENDED;
        return c == '\n' ? after_size(end) : EXTENSION;
    case EXTENSION:
        return c == '\n' ? after_size(end) : EXTENSION;
    case DATA_END:
        if (c == '\n') {
            end->line_length = 0;
            return SIZE;
        }
        return c == '\r' && end->line_length == 1 ? DATA_END : ENDED;
    case TRAILER:
        if (c == '\n') {
            bool empty = end->left == 0 && end->line_length <= 2;
            end->line_length = 0;
            end->left = 0;
            return empty ? ENDED : TRAILER;
        }
        if (c != '\r' && end->line_length <= 2)
            end->left = 1; /* no data is left, so this can mark a line that is not empty */
        return TRAILER;
    default:
        return ENDED;
    }
}

size_t request_end_feed(struct request_end *end, const char *bytes, size_t length) {
    size_t used = 0;
    while (used < length && end->state != ENDED) {
        if (end->state == COUNTED || end->state == DATA) {
            uint64_t part = length - used < end->left ? length - used : end->left;
            used += (size_t)part;
            end->left -= part;
            if (end->left > 0)
                break;
            end->state = end->state == DATA ? DATA_END : ENDED;
            end->line_length = 0;
        } else {
            end->state = step(end, bytes[used++]);
        }
    }
    return used;
}
