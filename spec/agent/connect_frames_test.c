/* connect_frames_test.c - frames that arrive in pieces. */
#include "connect_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* Gives the bytes in pieces of a size; the messages are joined, each with a bar behind it. */
static connect_frames_result feed(connect_frames *frames, const char *bytes, size_t length,
                                  size_t piece, char *to) {
    *to = '\0';
    while (length) {
        size_t part = piece < length ? piece : length, used;
        char *copy = malloc(part);
        memcpy(copy, bytes, part);
        connect_frames_result result = connect_frames_take(frames, copy, part, &used);
        free(copy);
        assert_true(used <= part);
        bytes += used;
        length -= used;
        if (result == CONNECT_FRAMES_WHOLE) {
            assert_int_equal(strlen(frames->message), frames->length);
            strcat(strcat(to, frames->message), "|");
        } else if (result != CONNECT_FRAMES_MORE) {
            return result;
        } else {
            assert_int_equal(used, part);
        }
    }
    return CONNECT_FRAMES_MORE;
}

static void finds_messages_however_they_are_cut(void **state) {
    (void)state;
    static const char bytes[] = "\0\0\0\0\3one\0\0\0\0\0\0\0\0\0\5three\0\0\0\0\1x";
    char text[100];
    for (size_t piece = 1; piece < sizeof bytes; piece++) {
        connect_frames frames = {.max = 5};
        assert_int_equal(feed(&frames, bytes, sizeof bytes - 1, piece, text), CONNECT_FRAMES_MORE);
        assert_string_equal(text, "one||three|x|");
        assert_false(connect_frames_within(&frames));
        connect_frames_free(&frames);
    }
}

static void knows_when_a_frame_is_not_whole(void **state) {
    (void)state;
    static const char bytes[] = "\0\0\0\0\3one";
    char text[100];
    for (size_t length = 0; length < sizeof bytes - 1; length++) {
        connect_frames frames = {.max = 5};
        assert_int_equal(feed(&frames, bytes, length, 100, text), CONNECT_FRAMES_MORE);
        assert_string_equal(text, "");
        assert_int_equal(connect_frames_within(&frames), length > 0);
        connect_frames_free(&frames);
    }
}

static void refuses_what_is_compressed_or_too_large(void **state) {
    (void)state;
    char text[100];
    connect_frames frames = {.max = 5};
    assert_int_equal(feed(&frames, "\1\0\0\0\1x", 6, 1, text), CONNECT_FRAMES_FLAGS);
    frames = (connect_frames){.max = 5};
    assert_int_equal(feed(&frames, "\2\0\0\0\2{}", 7, 7, text), CONNECT_FRAMES_FLAGS);
    frames = (connect_frames){.max = 5};
    assert_int_equal(feed(&frames, "\0\0\0\0\6", 5, 1, text), CONNECT_FRAMES_LARGE);
    frames = (connect_frames){.max = 5};
    assert_int_equal(feed(&frames, "\0\xff\xff\xff\xff", 5, 5, text), CONNECT_FRAMES_LARGE);
    assert_null(frames.message);
}

static void believes_no_length_before_the_bytes_are_there(void **state) {
    (void)state;
    char text[100];
    connect_frames frames = {.max = 16 * 1024 * 1024};
    assert_int_equal(feed(&frames, "\0\0\xff\xff\xffx", 6, 6, text), CONNECT_FRAMES_MORE);
    assert_true(frames.capacity < 10000);
    connect_frames_free(&frames);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_messages_however_they_are_cut),
        cmocka_unit_test(knows_when_a_frame_is_not_whole),
        cmocka_unit_test(refuses_what_is_compressed_or_too_large),
        cmocka_unit_test(believes_no_length_before_the_bytes_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
