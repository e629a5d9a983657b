/* Base64 of the agent: what is encoded is decoded to the same, in both alphabets, and what is
 * decoded fits its room. */
#include "base64_decode.h"
#include "base64_encode.h"

#include "../fuzz.h"

static void check_back(const unsigned char *bytes, size_t length, char *text, size_t text_length) {
    unsigned char *again = fuzz_allocate(BASE64_DECODED_SIZE(text_length));
    FUZZ_CHECK(base64_decode(text, text_length, again) == (ssize_t)length);
    FUZZ_CHECK(length == 0 || memcmp(again, bytes, length) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *text = fuzz_copy(bytes, length), *encoded = fuzz_allocate(BASE64_SIZE(length));
    unsigned char *out = fuzz_allocate(BASE64_DECODED_SIZE(length));
    ssize_t count = base64_decode(text, length, out);
    FUZZ_CHECK(count >= -1 && count <= (ssize_t)BASE64_DECODED_SIZE(length));
    base64_encode((const unsigned char *)text, length, encoded);
    check_back(bytes, length, encoded, BASE64_SIZE(length));
    size_t bare = BASE64_SIZE(length);
    for (; bare > 0 && encoded[bare - 1] == '='; bare--)
        ;
    for (size_t i = 0; i < bare; i++)
        encoded[i] = encoded[i] == '+' ? '-' : encoded[i] == '/' ? '_' : encoded[i];
    char *exact = fuzz_copy(encoded, bare);
    check_back(bytes, length, exact, bare);
    free(exact);
    free(out);
    free(encoded);
    free(text);
    return 0;
}
