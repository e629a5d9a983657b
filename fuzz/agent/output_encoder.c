/* What code writes, on its way into JSON: ASCII that decodes to the bytes, with U+FFFD for what is
 * no character, in whatever pieces it comes. */
#include "output_encoder.h"

#include "../fuzz.h"

#include <jansson.h>

/* Encodes the bytes with so much room at a time. */
static void encode(struct fuzz_input input, unsigned how, size_t room, struct fuzz_sink *out) {
    output_encoder encoder = {0};
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    char *piece;
    size_t length;
    while (fuzz_next(&pieces, &piece, &length)) {
        for (size_t at = 0, taken; at < length; at += taken) {
            char *to = fuzz_allocate(room);
            size_t written = 0;
            taken = output_encode(&encoder, piece + at, length - at, to, room, &written);
            FUZZ_CHECK(taken > 0 && taken <= length - at && written <= room);
            fuzz_add(out, to, written);
            free(to);
        }
    }
    char end[OUTPUT_ENCODER_MAX];
    fuzz_add(out, end, output_encode_end(&encoder, end));
    FUZZ_CHECK(output_encode_end(&encoder, end) == 0);
}

/* The bytes of the character that a text begins with, 0 when there is none; *prefix: how many of
 * one that is not whole. By the table of well-formed sequences in the Unicode standard. */
static size_t character(const unsigned char *at, size_t left, size_t *prefix) {
    static const struct {
        unsigned char first, last, low, high;
        size_t length;
    } rows[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    *prefix = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (*at < rows[i].first || *at > rows[i].last)
            continue;
        for (size_t k = 1; k < rows[i].length; k++, ++*prefix) {
            unsigned char low = k == 1 ? rows[i].low : 0x80, high = k == 1 ? rows[i].high : 0xbf;
            if (k >= left || at[k] < low || at[k] > high)
                return 0;
        }
        return rows[i].length;
    }
    return 0;
}

static void expected_text(struct fuzz_input input, struct fuzz_sink *out) {
    const unsigned char *at = (const unsigned char *)input.bytes;
    for (size_t left = input.length; left > 0;) {
        size_t prefix, length = character(at, left, &prefix);
        if (length)
            fuzz_add(out, at, length);
        else
            fuzz_add(out, "\xef\xbf\xbd", 3);
        at += length ? length : prefix;
        left -= length ? length : prefix;
    }
}

static void compare(const struct fuzz_sink *encoded, const struct fuzz_sink *expected) {
    struct fuzz_sink json = {0};
    fuzz_add_text(&json, "\"");
    fuzz_add(&json, encoded->bytes, encoded->length);
    fuzz_add_text(&json, "\"");
    for (size_t i = 0; i < encoded->length; i++)
        FUZZ_CHECK(encoded->bytes[i] >= ' ' && encoded->bytes[i] <= 0x7f);
    json_t *text = json_loadb(json.bytes, json.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    FUZZ_CHECK(json_is_string(text) && json_string_length(text) == expected->length);
    FUZZ_CHECK(expected->length == 0 ||
               memcmp(json_string_value(text), expected->bytes, expected->length) == 0);
    json_decref(text);
    fuzz_sink_free(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct fuzz_sink whole = {0}, in_pieces = {0}, expected = {0};
    unsigned how = fuzz_byte(&input);
    encode(input, 0, input.length * OUTPUT_ENCODER_MAX + OUTPUT_ENCODER_MAX, &whole);
    encode(input, how, OUTPUT_ENCODER_MAX + how % 7, &in_pieces);
    FUZZ_CHECK(fuzz_same(&whole, &in_pieces));
    expected_text(input, &expected);
    compare(&whole, &expected);
    fuzz_sink_free(&whole);
    fuzz_sink_free(&in_pieces);
    fuzz_sink_free(&expected);
    return 0;
}
