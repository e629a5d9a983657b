/* connect_messages_test.c - frames of Connect streams, cut anywhere; base64. */
#include "connect_messages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "base64_encode.h"
#include "../support/guarded.h"

static void finds_the_message(void **state) {
    (void)state;
    const char *message;
    size_t length;
    static const char frame[] = "\0\0\0\0\3{}\nrest";
    char *at = guarded(frame, sizeof frame - 1);
    assert_int_equal(connect_frame_parse(at, sizeof frame - 1, &message, &length), CONNECT_OK);
    assert_int_equal(length, 3);
    assert_ptr_equal(message, at + 5);
    at = guarded("\0\0\0\0\0", 5);
    assert_int_equal(connect_frame_parse(at, 5, &message, &length), CONNECT_OK);
    assert_int_equal(length, 0);
}

static void notices_frames_that_are_cut(void **state) {
    (void)state;
    const char *message;
    size_t length;
    static const char frame[] = "\0\0\0\0\4true";
    for (size_t size = 0; size < sizeof frame - 1; size++)
        assert_int_equal(connect_frame_parse(guarded(frame, size), size, &message, &length),
                         CONNECT_SHORT);
    assert_int_equal(connect_frame_parse(guarded("\0\xff\xff\xff\xff{}", 7), 7, &message, &length),
                     CONNECT_SHORT);
}

static void refuses_flags_it_does_not_know(void **state) {
    (void)state;
    const char *message;
    size_t length;
    assert_int_equal(connect_frame_parse(guarded("\1\0\0\0\2{}", 7), 7, &message, &length),
                     CONNECT_BAD);
    assert_int_equal(connect_frame_parse(guarded("\2\0\0\0\2{}", 7), 7, &message, &length),
                     CONNECT_BAD);
}

static void encodes_base64(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xff\xfe\xfd", "//79"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[20] = "";
        size_t length = strlen(pairs[i][0]);
        base64_encode((unsigned char *)guarded(pairs[i][0], length), length, text);
        assert_int_equal(strlen(text), BASE64_SIZE(length));
        assert_string_equal(text, pairs[i][1]);
    }
}

static void tells_errors_that_quote_what_is_not_text(void **state) {
    (void)state;
    json_t *error = connect_error("not_found", "no 'caf\xe9' or 'caf\xc3");
    assert_non_null(error);
    assert_string_equal(json_string_value(json_object_get(error, "code")), "not_found");
    assert_string_equal(json_string_value(json_object_get(error, "message")),
                        "no 'caf\xef\xbf\xbd' or 'caf\xef\xbf\xbd");
    json_decref(error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_message),
        cmocka_unit_test(notices_frames_that_are_cut),
        cmocka_unit_test(refuses_flags_it_does_not_know),
        cmocka_unit_test(encodes_base64),
        cmocka_unit_test(tells_errors_that_quote_what_is_not_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
