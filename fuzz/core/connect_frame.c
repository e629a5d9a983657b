/* Frames of the Connect protocol: cut where the reader of all bytes at once cuts them, within the
 * bound, and what was written as frames comes back. */
#include "connect_frame.h"

#include "../fuzz.h"

#define MAX_PAYLOAD 200

static void read_frames(struct fuzz_input input, unsigned how, struct fuzz_sink *out) {
    struct sbi_frames frames;
    struct sbi_frame frame;
    enum sbi_parse parsed = SBI_PARSE_MORE;
    char *piece;
    size_t length;
    sbi_frames_init(&frames, MAX_PAYLOAD);
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    while (parsed == SBI_PARSE_MORE && fuzz_next(&pieces, &piece, &length)) {
        const char *at = piece;
        while ((parsed = sbi_frames_next(&frames, &at, &length, &frame)) == SBI_PARSE_ITEM) {
            unsigned char header[SBI_FRAME_HEADER];
            FUZZ_CHECK(frame.length <= MAX_PAYLOAD);
            sbi_frame_header(header, frame.flags, frame.length);
            fuzz_add(out, header, sizeof header);
            fuzz_add(out, frame.payload, frame.length);
        }
        FUZZ_CHECK(parsed != SBI_PARSE_MORE || length == 0);
    }
    fuzz_stop(&pieces);
    FUZZ_CHECK(parsed != SBI_PARSE_NO_MEMORY);
    FUZZ_CHECK(parsed != SBI_PARSE_MORE ||
               sbi_frames_are_between(&frames) == (out->length == input.length));
    /* Frames are their own writing. */
    FUZZ_CHECK(out->length <= input.length);
    FUZZ_CHECK(out->length == 0 || memcmp(out->bytes, input.bytes, out->length) == 0);
    fuzz_add_text(out, parsed == SBI_PARSE_MORE ? "more" : "too large");
    sbi_frames_free(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_check_pieces(bytes, length, read_frames);
    return 0;
}
