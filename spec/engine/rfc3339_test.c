/* rfc3339_test.c - times as text, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rfc3339.h"

static void times_are_written_and_read(void **state) {
    (void)state;
    char text[RFC3339_SIZE];
    int64_t ms;
    rfc3339_format(1796033717614, text);
    assert_string_equal(text, "2026-11-30T10:15:17.614Z");
    static const int64_t times[] = {0, 999, 951782400000, 1796033717614, 4102444799999};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        rfc3339_format(times[i], text);
        assert_int_equal(rfc3339_parse(text, &ms), 0);
        assert_int_equal(ms, times[i]);
    }
}

static void other_spellings_are_read(void **state) {
    (void)state;
    static const char *const same[] = {"2026-11-30T10:15:17.5Z", "2026-11-30t10:15:17.500999z",
                                       "2026-11-30 11:15:17.5+01:00",
                                       "2026-11-29T22:15:17.500-12:00"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        int64_t ms = 0;
        assert_int_equal(rfc3339_parse(same[i], &ms), 0);
        assert_int_equal(ms, 1796033717500);
    }
}

static void what_is_no_time_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "2026",
                                        "2026-11-30",
                                        "2026-11-30T10:15:17",
                                        "2026-11-30T10:15:17.Z",
                                        "2026-11-30T10:15:17Zx",
                                        "2026-13-30T10:15:17Z",
                                        "2026-11-31T10:15:17Z",
                                        "2026-11-30T24:15:17Z",
                                        "2026-11-30T10:60:17Z",
                                        "2026-11-30T10:15:17+0100",
                                        "2026-11-30T10:15:17+25:00",
                                        "1796033717"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t ms;
        if (rfc3339_parse(wrong[i], &ms) == 0)
            fail_msg("taken: %s", wrong[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_written_and_read),
        cmocka_unit_test(other_spellings_are_read),
        cmocka_unit_test(what_is_no_time_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
