/* The answer of a sandbox's server to a request to upgrade: the verdict must not depend on the
 * pieces in which it comes, and only a 101 agrees. */
#include "upgrade_answer.h"

#include "../fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct upgrade_answer whole = {0}, in_pieces = {0};
    unsigned how = fuzz_byte(&input);
    char *piece;
    size_t size;
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    while (fuzz_next(&pieces, &piece, &size))
        upgrade_answer_feed(&in_pieces, piece, size);
    char *copy = fuzz_copy(input.bytes, input.length);
    enum upgrade_verdict verdict = upgrade_answer_feed(&whole, copy, input.length);
    FUZZ_CHECK(verdict == in_pieces.verdict);
    if (verdict == UPGRADE_AGREED)
        FUZZ_CHECK(memmem(copy, input.length, "HTTP/1.1 101", 12));
    free(copy);
    return 0;
}
