/* signature_test.c - signed addresses of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "signature.h"

#include <stdio.h>
#include <string.h>

static void signs_like_the_official_sdk(void **state) {
    (void)state;
    char text[SIGNATURE_SIZE];
    signature_subject subject = {"/home/user/a b.txt", "read", "", false, 0};
    /* printf '%s' '/home/user/a b.txt:read::token' | openssl dgst -sha256 -binary | base64 */
    signature_make(&subject, "token", text);
    assert_string_equal(text, "v1_VV5cnKMLm+JJ6UtC8V1agQ4x7dIUMCEZwYlYmh0UPy8");
    subject = (signature_subject){"f", "write", "user", true, 1700000000};
    signature_make(&subject, "token", text);
    assert_string_equal(text, "v1_t9ZgkQfW4oepyP7PdaqtG0TJiKdg6N9l273stRoP1fI");
    assert_true(signature_matches(text, &subject, "token"));
    assert_false(signature_matches(text, &subject, "tokem"));
    assert_false(signature_matches("", &subject, "token"));
    text[strlen(text) - 1] ^= 1;
    assert_false(signature_matches(text, &subject, "token"));
}

static void reads_expirations(void **state) {
    (void)state;
    int64_t value;
    assert_true(signature_read_expiration("0", &value) && value == 0);
    assert_true(signature_read_expiration("1700000000", &value) && value == 1700000000);
    assert_true(signature_read_expiration("-5", &value) && value == -5);
    const char *bad[] = {"", "-", "+5", " 5", "5 ", "5.0", "0x5", "99999999999999999999", "soon"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(signature_read_expiration(bad[i], &value));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_like_the_official_sdk),
        cmocka_unit_test(reads_expirations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
