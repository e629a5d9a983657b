/* Encoding and decoding are each other's inverse; parsers_test.c has what is no base64. */
#include "base64.h"
#include "guarded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void base64_there_and_back_is_the_same(void **state) {
    (void)state;
    unsigned char bytes[256], back[259];
    char text[349];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)i;
    }
    for (size_t length = 0; length <= sizeof bytes; length++) {
        struct guarded guarded = guarded_new(bytes, length);
        size_t written = sbi_base64_encode(guarded.bytes, length, text);
        guarded_free(&guarded);
        assert_int_equal(written, sbi_base64_length(length));
        assert_int_equal(strlen(text), written);
        guarded = guarded_new(text, written);
        assert_int_equal(sbi_base64_decode(guarded.bytes, written, back), length);
        guarded_free(&guarded);
        assert_memory_equal(back, bytes, length);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_there_and_back_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
