/* Frames of a Connect stream that a client sends: cut alike in pieces of any size, within the
 * bound. */
#include "connect_frames.h"

#include "connect_messages.h"

#include "../fuzz.h"

#define MAX_MESSAGE 200

static void read_frames(struct fuzz_input input, unsigned how, struct fuzz_sink *out) {
    connect_frames frames = {.max = MAX_MESSAGE};
    connect_frames_result result = CONNECT_FRAMES_MORE;
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    char *piece;
    size_t length, used;
    while (result <= CONNECT_FRAMES_WHOLE && fuzz_next(&pieces, &piece, &length)) {
        for (size_t at = 0; at < length && result <= CONNECT_FRAMES_WHOLE; at += used) {
            used = 0;
            result = connect_frames_take(&frames, piece + at, length - at, &used);
            FUZZ_CHECK(used <= length - at);
            FUZZ_CHECK(result != CONNECT_FRAMES_MORE || used == length - at);
            if (result != CONNECT_FRAMES_WHOLE)
                continue;
            FUZZ_CHECK(frames.length <= MAX_MESSAGE && frames.message[frames.length] == '\0');
            fuzz_add(out, frames.message, frames.length + 1);
        }
    }
    fuzz_stop(&pieces);
    FUZZ_CHECK(result != CONNECT_FRAMES_MEMORY && frames.capacity <= 4096);
    fuzz_add_text(out, connect_frames_within(&frames) ? "within" : "between");
    fuzz_add_text(out, result <= CONNECT_FRAMES_WHOLE   ? "fine"
                       : result == CONNECT_FRAMES_FLAGS ? "flags"
                                                        : "large");
    connect_frames_free(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_check_pieces(bytes, length, read_frames);
    /* The body of a call with one message. */
    char *copy = fuzz_copy(bytes, length);
    const char *message;
    size_t size;
    if (connect_frame_parse(copy, length, &message, &size) == CONNECT_OK)
        FUZZ_CHECK(message >= copy + 5 && message + size <= copy + length);
    free(copy);
    return 0;
}
