/* Base64 of the client: what is encoded is decoded to the same, and what is decoded fits its room.
 */
#include "base64.h"

#include "../fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *text = fuzz_copy(bytes, length);
    unsigned char *out = fuzz_allocate(sbi_base64_room(length));
    ssize_t count = sbi_base64_decode(text, length, out);
    FUZZ_CHECK(count >= -1 && count <= (ssize_t)sbi_base64_room(length));
    char *encoded = fuzz_allocate(sbi_base64_length(length) + 1);
    size_t encoded_length = sbi_base64_encode(text, length, encoded);
    FUZZ_CHECK(encoded_length == sbi_base64_length(length) && encoded[encoded_length] == '\0');
    unsigned char *again = fuzz_allocate(sbi_base64_room(encoded_length));
    FUZZ_CHECK(sbi_base64_decode(encoded, encoded_length, again) == (ssize_t)length);
    FUZZ_CHECK(length == 0 || memcmp(again, bytes, length) == 0);
    free(again);
    free(encoded);
    free(out);
    free(text);
    return 0;
}
