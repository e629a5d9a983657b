/* output_encoder_test.c - bytes to JSON text, at every split and at the edge of readable memory. */
#include "output_encoder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "../support/guarded.h"

#define BYTES(text) text, sizeof text - 1

/* Encodes in two parts, the second from guarded memory, in rooms of `room` bytes. */
static void encode(const char *bytes, size_t length, size_t split, size_t room, char *out) {
    output_encoder encoder = {0};
    size_t used = 0;
    for (int part = 0; part < 2; part++) {
        size_t size = part ? length - split : split, taken = 0;
        const char *from = guarded(bytes + (part ? split : 0), size);
        while (taken < size) {
            size_t written = 0;
            taken +=
                output_encode(&encoder, from + taken, size - taken, out + used, room, &written);
            assert_true(written <= room);
            used += written;
        }
    }
    used += output_encode_end(&encoder, out + used);
    out[used] = '\0';
}

static void check(const char *bytes, size_t length, const char *expected) {
    char out[1000];
    for (size_t split = 0; split <= length; split++) {
        encode(bytes, length, split, OUTPUT_ENCODER_MAX, out);
        assert_string_equal(out, expected);
        encode(bytes, length, split, 500, out);
        assert_string_equal(out, expected);
    }
}

static void escapes_as_python_does(void **state) {
    (void)state;
    check(BYTES(""), "");
    check(BYTES("plain ~\x7f"), "plain ~\x7f");
    check(BYTES("\"\\/"), "\\\"\\\\/");
    check(BYTES("\b\f\n\r\t\0\x01\x1f"), "\\b\\f\\n\\r\\t\\u0000\\u0001\\u001f");
    check(BYTES("\xc3\xa9\xe2\x98\x83\xf0\x9f\x98\x80"), "\\u00e9\\u2603\\ud83d\\ude00");
    check(
        BYTES(
            "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
        "\\u0080\\u07ff\\u0800\\ud7ff\\ue000\\ud800\\udc00\\udbff\\udfff");
}

static void replaces_what_is_not_utf8(void **state) {
    (void)state;
    check(BYTES("\xff\x00z"), "\\ufffd\\u0000z");
    check(BYTES("\x80\xbf"), "\\ufffd\\ufffd");
    check(BYTES("\xc0\xaf"), "\\ufffd\\ufffd"); /* too long a form */
    check(BYTES("\xe0\x9f\xbf"), "\\ufffd\\ufffd\\ufffd");
    check(BYTES("\xed\xa0\x80"), "\\ufffd\\ufffd\\ufffd"); /* a surrogate */
    check(BYTES("\xf4\x90\x80\x80"), "\\ufffd\\ufffd\\ufffd\\ufffd");
    check(BYTES("\xf5"), "\\ufffd");
    check(BYTES("a\xe2\x98z"), "a\\ufffdz"); /* one for the whole prefix */
    check(BYTES("\xf0\x9f\x98\xc3\xa9"), "\\ufffd\\u00e9");
    check(BYTES("\xe2\x98"), "\\ufffd"); /* cut at the end */
    check(BYTES("\xf0\x9f\x98"), "\\ufffd");
    check(BYTES("\xc3\""), "\\ufffd\\\"");
}

static void keeps_to_its_room(void **state) {
    (void)state;
    output_encoder encoder = {0};
    char out[64];
    size_t written = 0;
    memset(out, '#', sizeof out);
    size_t taken = output_encode(&encoder, "\1\1\1\1\1\1\1\1", 8, out, 30, &written);
    assert_true(written <= 30 && taken < 8 && written == 6 * taken);
    assert_int_equal(out[30], '#');
    written = 0;
    assert_int_equal(output_encode(&encoder, "abc", 3, out, OUTPUT_ENCODER_MAX - 1, &written), 0);
    assert_int_equal(written, 0);
}

static uint32_t random_state = 12345;

static unsigned char random_byte(void) {
    static const unsigned char likely[] = {0xc3, 0xa9, 0xe2, 0x98, 0xf0, 0x9f, 0xed, 0xa0, 'a', 0};
    random_state = random_state * 1664525 + 1013904223;
    uint32_t high = random_state >> 16;
    return high & 1 ? likely[(high >> 1) % sizeof likely] : (unsigned char)(high >> 4);
}

/* Whatever the bytes, a split changes nothing. */
static void does_not_depend_on_splits(void **state) {
    (void)state;
    for (int round = 0; round < 2000; round++) {
        char bytes[24], whole[400], parts[400];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)random_byte();
        encode(bytes, sizeof bytes, 0, 400, whole);
        for (size_t split = 1; split <= sizeof bytes; split++) {
            encode(bytes, sizeof bytes, split, OUTPUT_ENCODER_MAX + split, parts);
            assert_string_equal(parts, whole);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_as_python_does),
        cmocka_unit_test(replaces_what_is_not_utf8),
        cmocka_unit_test(keeps_to_its_room),
        cmocka_unit_test(does_not_depend_on_splits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
