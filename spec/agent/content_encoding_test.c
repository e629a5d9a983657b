/* content_encoding_test.c - Accept-Encoding and Content-Encoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "content_encoding.h"

#include "../support/rubbish.h"

static void chooses_encodings(void **state) {
    (void)state;
    static const struct {
        const char *accept;
        content_encoding expected;
    } cases[] = {
        {NULL, CONTENT_IDENTITY},
        {"", CONTENT_IDENTITY},
        {"gzip", CONTENT_GZIP},
        {"GZip", CONTENT_GZIP},
        {"gzip, deflate, br, zstd", CONTENT_IDENTITY},
        {"gzip, deflate;q=0.9", CONTENT_GZIP},
        {"gzip;q=0.9, br", CONTENT_IDENTITY},
        {"gzip, *", CONTENT_IDENTITY},
        {"gzip, deflate, identity;q=0", CONTENT_GZIP},
        {"br, deflate", CONTENT_IDENTITY},
        {"identity, gzip", CONTENT_IDENTITY},
        {"gzip;q=0.5, identity", CONTENT_IDENTITY},
        {"gzip; q=0.5 , identity;q=0.4", CONTENT_GZIP},
        {"gzip;q=0", CONTENT_IDENTITY},
        {"gzip;q=0.000", CONTENT_IDENTITY},
        {"*", CONTENT_IDENTITY},
        {"*, identity;q=0", CONTENT_GZIP},
        {"gzip, *;q=0", CONTENT_GZIP},
        {"identity;q=0, gzip;q=0.1", CONTENT_GZIP},
        {"identity;q=0", CONTENT_UNKNOWN},
        {"identity;q=0, br", CONTENT_UNKNOWN},
        {"*;q=0", CONTENT_UNKNOWN},
        {"*;q=0, identity", CONTENT_IDENTITY},
        {";q=0,,;", CONTENT_IDENTITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (content_encoding_choose(cases[i].accept) != cases[i].expected)
            fail_msg("%s", cases[i].accept);
    }
    assert_false(content_encoding_accepts_identity("gzip, *;q=0"));
    assert_true(content_encoding_accepts_identity("gzip, *;q=0, identity;q=0.1"));
    assert_int_equal(content_encoding_parse(NULL), CONTENT_IDENTITY);
    assert_int_equal(content_encoding_parse(""), CONTENT_IDENTITY);
    assert_int_equal(content_encoding_parse(" Identity "), CONTENT_IDENTITY);
    assert_int_equal(content_encoding_parse("gzip"), CONTENT_GZIP);
    assert_int_equal(content_encoding_parse("br"), CONTENT_UNKNOWN);
    assert_int_equal(content_encoding_parse("*"), CONTENT_UNKNOWN);
    assert_int_equal(content_encoding_parse("gzip, gzip"), CONTENT_UNKNOWN);
}

static void takes_rubbish_for_encodings(void **state) {
    (void)state;
    static const char letters[] = "gzipidentityq=0.15,; \t*";
    for (int round = 0; round < 200000; round++) {
        char text[40];
        size_t length = 0, end = rubbish(39);
        while (length < end)
            text[length++] =
                rubbish(10) ? letters[rubbish(sizeof letters - 1)] : (char)(1 + rubbish(255));
        text[length] = '\0';
        content_encoding chosen = content_encoding_choose(text);
        content_encoding_parse(text);
        if (content_encoding_accepts_identity(text))
            assert_int_not_equal(chosen, CONTENT_UNKNOWN);
        else
            assert_int_not_equal(chosen, CONTENT_IDENTITY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses_encodings),
        cmocka_unit_test(takes_rubbish_for_encodings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
