/* Packed uploads: what zlib packs comes out unchanged, what comes out does not depend on the
 * pieces, and few bytes that stand for very many do not take long at once. */
#include "gunzip.h"

#include "../fuzz.h"

#include <zlib.h>

#define AT_ONCE (1024 * 1024) /* bytes that one call may decode */
#define ENOUGH (8 * 1024 * 1024)

struct decoded {
    struct fuzz_sink *out;
    size_t now, total;
};

static int take(void *user, const char *bytes, size_t length) {
    struct decoded *decoded = user;
    decoded->now += length;
    decoded->total += length;
    fuzz_add(decoded->out, bytes, decoded->total > ENOUGH ? 0 : length);
    return decoded->total > ENOUGH ? -1 : 0;
}

static void decode(const void *bytes, size_t count, unsigned how, struct fuzz_sink *out) {
    struct decoded decoded = {.out = out};
    struct fuzz_pieces pieces = fuzz_pieces(bytes, count, how);
    gunzip *decoder = gunzip_new(take, &decoded);
    FUZZ_CHECK(decoder);
    char *piece;
    size_t length;
    long took = 0;
    bool bad = false;
    while (took >= 0 && fuzz_next(&pieces, &piece, &length)) {
        for (size_t at = 0; at < length && took >= 0; at += (size_t)took) {
            decoded.now = 0;
            took = gunzip_feed(decoder, piece + at, length - at, &bad);
            FUZZ_CHECK(took <= (long)(length - at) && decoded.now <= AT_ONCE);
            FUZZ_CHECK(took != 0 || decoded.now > 0);
        }
    }
    fuzz_stop(&pieces);
    FUZZ_CHECK(!bad || took < 0);
    fuzz_add_text(out, took < 0 ? "bad" : gunzip_is_complete(decoder) ? "whole" : "cut");
    gunzip_free(decoder);
}

static void decode_packed(const void *bytes, size_t length, unsigned how) {
    struct fuzz_sink got = {0};
    z_stream stream = {0};
    FUZZ_CHECK(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    size_t size = deflateBound(&stream, length);
    unsigned char *packed = fuzz_allocate(size);
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = (unsigned)length;
    stream.next_out = packed;
    stream.avail_out = (unsigned)size;
    FUZZ_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    decode(packed, stream.total_out, how, &got);
    FUZZ_CHECK(got.length == length + 5 && memcmp(got.bytes + length, "whole", 5) == 0);
    FUZZ_CHECK(length == 0 || memcmp(got.bytes, bytes, length) == 0);
    deflateEnd(&stream);
    free(packed);
    fuzz_sink_free(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct fuzz_sink whole = {0}, in_pieces = {0};
    unsigned how = fuzz_byte(&input);
    decode(input.bytes, input.length, 0, &whole);
    decode(input.bytes, input.length, how, &in_pieces);
    /* Of what is bad the bytes before it may have come or not. */
    size_t tail = whole.length > 3 ? whole.length - 3 : 0;
    if (memcmp(whole.bytes + tail, "bad", 3) != 0)
        FUZZ_CHECK(fuzz_same(&whole, &in_pieces));
    decode_packed(input.bytes, input.length, how);
    fuzz_sink_free(&whole);
    fuzz_sink_free(&in_pieces);
    return 0;
}
