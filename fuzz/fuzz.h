/*
 * fuzz.h - what the fuzz targets share: taking an input apart, exact copies, checks.
 *
 * Everything that a target gives to a parser is a copy of exactly its size, so that
 * AddressSanitizer sees one byte too many being read.
 */
#ifndef STEPBOX_FUZZ_H
#define STEPBOX_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* What must hold whatever the input is. */
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : fuzz_failed(#condition, __FILE__, __LINE__))

static inline void fuzz_failed(const char *condition, const char *file, int line) {
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    abort();
}

/* Memory is not what is tested here. */
static inline void *fuzz_allocate(size_t size) {
    void *memory = malloc(size);
    FUZZ_CHECK(memory);
    return memory;
}

/* To be freed. */
static inline char *fuzz_copy(const void *bytes, size_t length) {
    char *copy = fuzz_allocate(length);
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

/* The bytes up to the first NUL as a string, to be freed. */
static inline char *fuzz_string(const void *bytes, size_t length) {
    const char *end = length ? memchr(bytes, '\0', length) : NULL;
    size_t size = end ? (size_t)(end - (const char *)bytes) : length;
    char *text = fuzz_allocate(size + 1);
    if (size)
        memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

/* An input that is taken apart from its beginning. */
struct fuzz_input {
    const char *bytes;
    size_t length;
};

static inline struct fuzz_input fuzz_input(const uint8_t *bytes, size_t length) {
    return (struct fuzz_input){(const char *)bytes, length};
}

/* One byte that says how the rest is to be used; 0 behind the end. */
static inline unsigned fuzz_byte(struct fuzz_input *input) {
    if (input->length == 0)
        return 0;
    input->length--;
    return (unsigned char)*input->bytes++;
}

/* The next line without its end, as a string up to the first NUL, to be freed. */
static inline char *fuzz_line(struct fuzz_input *input) {
    const char *end = input->length ? memchr(input->bytes, '\n', input->length) : NULL;
    size_t length = end ? (size_t)(end - input->bytes) : input->length;
    char *line = fuzz_string(input->bytes, length);
    input->bytes += length + (end != NULL);
    input->length -= length + (end != NULL);
    return line;
}

/* Bytes that come piece by piece. */
struct fuzz_pieces {
    const char *bytes;
    size_t left;
    uint32_t how;
    char *piece;
};

/* how: 0 all at once, 1 byte by byte, else pieces whose sizes follow from it. */
static inline struct fuzz_pieces fuzz_pieces(const void *bytes, size_t length, unsigned how) {
    return (struct fuzz_pieces){.bytes = bytes, .left = length, .how = how};
}

static inline size_t fuzz_piece_size(struct fuzz_pieces *pieces) {
    if (pieces->how <= 1)
        return pieces->how ? 1 : pieces->left;
    pieces->how = pieces->how * 1664525u + 1013904223u;
    uint32_t random = pieces->how >> 8;
    return 1 + (random >> 4) % (1u << (random % 10));
}

/* The next piece, valid until the next call; false when there is none. The last call frees it. */
static inline bool fuzz_next(struct fuzz_pieces *pieces, char **piece, size_t *length) {
    free(pieces->piece);
    pieces->piece = NULL;
    if (pieces->left == 0)
        return false;
    size_t size = fuzz_piece_size(pieces);
    *length = size < pieces->left ? size : pieces->left;
    *piece = pieces->piece = fuzz_copy(pieces->bytes, *length);
    pieces->bytes += *length;
    pieces->left -= *length;
    return true;
}

/* For who stops before the end. */
static inline void fuzz_stop(struct fuzz_pieces *pieces) {
    free(pieces->piece);
    pieces->piece = NULL;
    pieces->left = 0;
}

/* Bytes that add up. */
struct fuzz_sink {
    char *bytes;
    size_t length, capacity;
};

static inline void fuzz_add(struct fuzz_sink *sink, const void *bytes, size_t length) {
    if (sink->capacity - sink->length < length) {
        sink->capacity = (sink->length + length) * 2;
        sink->bytes = realloc(sink->bytes, sink->capacity);
        FUZZ_CHECK(sink->bytes);
    }
    if (length)
        memcpy(sink->bytes + sink->length, bytes, length);
    sink->length += length;
}

static inline void fuzz_add_text(struct fuzz_sink *sink, const char *text) {
    fuzz_add(sink, text, strlen(text));
}

static inline bool fuzz_same(const struct fuzz_sink *a, const struct fuzz_sink *b) {
    return a->length == b->length && (a->length == 0 || !memcmp(a->bytes, b->bytes, a->length));
}

static inline void fuzz_sink_free(struct fuzz_sink *sink) {
    free(sink->bytes);
    *sink = (struct fuzz_sink){0};
}

/* Reads an input in pieces, and tells what it found. */
typedef void fuzz_reader(struct fuzz_input input, unsigned how, struct fuzz_sink *out);

/* Has to find the same whatever the pieces are; the input's first byte says which. */
static inline void fuzz_check_pieces(const uint8_t *bytes, size_t length, fuzz_reader *read) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct fuzz_sink whole = {0}, in_pieces = {0};
    unsigned how = fuzz_byte(&input);
    read(input, 0, &whole);
    read(input, how, &in_pieces);
    FUZZ_CHECK(fuzz_same(&whole, &in_pieces));
    fuzz_sink_free(&whole);
    fuzz_sink_free(&in_pieces);
}

/* Whether a string is UTF-8 without control characters, as what is shown to people has to be. Told
 * by a decoder of its own, since the product's is tested. */
static inline bool fuzz_is_printable(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        unsigned first = *at++, code = first;
        int more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first >= 0x80) {
            if (first < 0xc2 || first > 0xf4)
                return false;
            code = first & (0x3fu >> more);
        }
        for (int i = 0; i < more; i++, at++) {
            if ((*at & 0xc0) != 0x80)
                return false;
            code = code << 6 | (*at & 0x3f);
        }
        static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
        if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            return false;
        if (code < ' ' || code == 0x7f)
            return false;
    }
    return true;
}

#endif
