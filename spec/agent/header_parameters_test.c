/* header_parameters_test.c - parameters of headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "header_parameters.h"

#include "../support/guarded.h"
#include "../support/rubbish.h"

#include <string.h>

static void expect_parameter(const char *header, const char *name, const char *expected) {
    char to[100];
    size_t length;
    if (header_parameter(header, strlen(header), name, to, sizeof to, &length) !=
        HEADER_PARAMETER_FOUND)
        fail_msg("%s", header);
    assert_string_equal(to, expected);
    assert_int_equal(length, strlen(expected));
}

static header_parameter_result result_of(const char *header, const char *name) {
    char to[20];
    size_t length;
    return header_parameter(header, strlen(header), name, to, sizeof to, &length);
}

static void reads_parameters(void **state) {
    (void)state;
    expect_parameter("form-data; name=\"file\"; filename=\"a b;c.txt\"", "filename", "a b;c.txt");
    expect_parameter("form-data; name=\"file\"; filename=\"a b;c.txt\"", "name", "file");
    expect_parameter("x;NAME=token;", "name", "token");
    expect_parameter("x ; name = \"\" ", "name", "");
    expect_parameter("x; name=\"a\\\"b\\\\c\\d\"", "name", "a\"b\\c\\d");
    /* Browsers escape like this; E2B's server takes it as it is. */
    expect_parameter("x; filename=\"a%22%0Ab\"", "filename", "a%22%0Ab");
    expect_parameter("x; filename=\"\xf0\x9f\x8e\x89\"", "filename", "\xf0\x9f\x8e\x89");
    expect_parameter("x; filename=plain; filename*=UTF-8''%e2%82%AC%20rates", "filename",
                     "\xe2\x82\xac rates");
    expect_parameter("x; filename*=utf-8'en'a; filename=plain", "filename", "a");
    assert_int_equal(result_of("form-data", "name"), HEADER_PARAMETER_ABSENT);
    assert_int_equal(result_of("", "name"), HEADER_PARAMETER_ABSENT);
    assert_int_equal(result_of("x; names=1; nam=2", "name"), HEADER_PARAMETER_ABSENT);
    const char *bad[] = {"x; name",
                         "x; name=",
                         "x; name=\"a",
                         "x; name=\"a\\\"",
                         "x; name=a b",
                         "x; =a",
                         "x; name*=a",
                         "x; name*=utf-8''%4",
                         "x; name*=latin1''a",
                         "x; name=\"twenty characters or more\""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (result_of(bad[i], "name") != HEADER_PARAMETER_BAD)
            fail_msg("%s", bad[i]);
    }
}

static void takes_rubbish_for_parameters(void **state) {
    (void)state;
    static const char letters[] = "name*=;\"\\ utf-8''%41;name=";
    for (int round = 0; round < 200000; round++) {
        size_t length = rubbish(60);
        char *text = guarded_end() - length;
        for (size_t i = 0; i < length; i++)
            text[i] = rubbish(10) ? letters[rubbish(sizeof letters - 1)] : (char)(1 + rubbish(255));
        char to[10];
        size_t got;
        if (header_parameter(text, length, "name", to, sizeof to, &got) == HEADER_PARAMETER_FOUND)
            assert_true(got < sizeof to && to[got] == '\0');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_parameters),
        cmocka_unit_test(takes_rubbish_for_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
