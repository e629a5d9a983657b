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

/* Visible ASCII, blanks, and bytes over it. What else a line has, servers disagree about: some end
 * it at a NUL. */
static bool is_line_char(char c) {
    unsigned char u = (unsigned char)c;
    return u >= 0x80 || (u >= ' ' && u < 0x7f) || u == '\t';
}

/* The line has come to its end. */
static int end_line(struct request_end *end) {
    bool empty = end->line_length == 2;
    end->line_length = 0;
    switch (end->state) {
    case SIZE:
    case EXTENSION:
        return end->left ? DATA : TRAILER;
    case DATA_END:
        return empty ? SIZE : ENDED;
    default:
        return empty ? ENDED : TRAILER;
    }
}

/* A digit of a chunk's size, or what comes behind it. */
static int read_size(struct request_end *end, char c) {
    int digit = hex_digit(c);
    if (digit < 0)
        return end->line_length == 1 ? ENDED : EXTENSION;
    if (end->left >> 58)
        return ENDED; /* no honest chunk is that large */
    end->left = end->left << 4 | (uint64_t)digit;
    return SIZE;
}

/* One byte that is not data. Returns the next state. Lines end with CR LF, and nothing else. */
static int step(struct request_end *end, char c) {
    bool after_cr = end->after_cr;
    end->after_cr = c == '\r';
    if (++end->line_length > MAX_LINE || after_cr != (c == '\n'))
        return ENDED;
    if (after_cr)
        return end_line(end);
    if (end->after_cr)
        return end->state == SIZE && end->line_length == 1 ? ENDED : end->state;
    if (!is_line_char(c) || end->state == DATA_END)
        return ENDED;
    return end->state == SIZE ? read_size(end, c) : end->state;
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
