/* http_range_test.c - what Range headers ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http_range.h"

#include "../support/rubbish.h"

static void expect_range(const char *header, uint64_t size, http_range expected, uint64_t offset,
                         uint64_t length) {
    uint64_t got_offset = 0, got_length = 0;
    assert_int_equal(http_range_parse(header, size, &got_offset, &got_length), expected);
    if (expected == HTTP_RANGE_PART) {
        assert_int_equal(got_offset, offset);
        assert_int_equal(got_length, length);
    }
}

static void reads_ranges(void **state) {
    (void)state;
    expect_range(NULL, 10, HTTP_RANGE_WHOLE, 0, 0);
    expect_range("bytes=0-0", 10, HTTP_RANGE_PART, 0, 1);
    expect_range("bytes=2-5", 10, HTTP_RANGE_PART, 2, 4);
    expect_range("BYTES= 2 - 5 ", 10, HTTP_RANGE_PART, 2, 4);
    expect_range("bytes=2-", 10, HTTP_RANGE_PART, 2, 8);
    expect_range("bytes=-3", 10, HTTP_RANGE_PART, 7, 3);
    expect_range("bytes=-30", 10, HTTP_RANGE_PART, 0, 10);
    expect_range("bytes=9-99999999999999999999999999", 10, HTTP_RANGE_PART, 9, 1);
    expect_range("bytes=0-18446744073709551615", 10, HTTP_RANGE_PART, 0, 10);
    expect_range("bytes=10-", 10, HTTP_RANGE_BEYOND, 0, 0);
    expect_range("bytes=99999999999999999999999999-", 10, HTTP_RANGE_BEYOND, 0, 0);
    expect_range("bytes=-0", 10, HTTP_RANGE_BEYOND, 0, 0);
    const char *ignored[] = {"bytes=",    "bytes=-",   "bytes=5-2",   "bytes=1-2,4-5",
                             "lines=1-2", "bytes=a-b", "bytes=1",     "bytes=1-x",
                             "bytes=--1", "",          "bytes=0x1-2", "bytes=1- 2 3"};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        expect_range(ignored[i], 10, HTTP_RANGE_WHOLE, 0, 0);
}

static void takes_rubbish_for_ranges(void **state) {
    (void)state;
    static const char letters[] = "bytes=-0123456789, \t9";
    for (int round = 0; round < 200000; round++) {
        char text[40] = "bytes=";
        size_t length = rubbish(2) ? 6 : 0, end = length + rubbish(20);
        while (length < end)
            text[length++] =
                rubbish(10) ? letters[rubbish(sizeof letters - 1)] : (char)(1 + rubbish(255));
        text[length] = '\0';
        uint64_t offset, part, size = rubbish(100);
        if (http_range_parse(text, size, &offset, &part) == HTTP_RANGE_PART)
            assert_true(part > 0 && offset < size && part <= size - offset);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_ranges),
        cmocka_unit_test(takes_rubbish_for_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
