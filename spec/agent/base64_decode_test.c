/* base64_decode_test.c - text to bytes, strictly. */
#include "base64_decode.h"
#include "base64_encode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static ssize_t decode(const char *text, unsigned char *to) {
    /* A copy of the very size, so that reading beyond it is noticed. */
    size_t length = strlen(text);
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    ssize_t decoded = base64_decode(copy, length, to);
    free(copy);
    return decoded;
}

static void takes_what_was_encoded(void **state) {
    (void)state;
    unsigned char bytes[300], back[304];
    char text[BASE64_SIZE(300)];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + i / 256);
    for (size_t length = 0; length <= sizeof bytes; length++) {
        base64_encode(bytes, length, text);
        assert_int_equal(base64_decode(text, BASE64_SIZE(length), back), length);
        assert_memory_equal(back, bytes, length);
    }
}

static void takes_texts_without_padding_and_of_the_other_alphabet(void **state) {
    (void)state;
    unsigned char to[16];
    assert_int_equal(decode("aGk", to), 2);
    assert_memory_equal(to, "hi", 2);
    assert_int_equal(decode("eA", to), 1);
    assert_int_equal(decode("-_-_", to), 3);
    assert_memory_equal(to, "\xfb\xff\xbf", 3);
}

static void refuses_anything_else(void **state) {
    (void)state;
    static const char *const rubbish[] = {
        "a",    "=",     "==",   "===",  "====",  "a===",     "aGk=a",   "aG=k", "aGk=\n",
        "a Gk", "aGk=k", "aGl=", "eB==", "aGk==", "\xc3\xa4", "aG\xff=", "!!!!", "aGkaa=",
    };
    unsigned char to[16];
    for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
        if (decode(rubbish[i], to) >= 0)
            fail_msg("'%s' was taken", rubbish[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_was_encoded),
        cmocka_unit_test(takes_texts_without_padding_and_of_the_other_alphabet),
        cmocka_unit_test(refuses_anything_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
