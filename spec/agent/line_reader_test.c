/* line_reader_test.c - lines out of pieces of any size. */
#include "line_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* Puts the bytes in, at most `most` at once; takes what lines there are to `out`, each with a '|'.
 * False when the reader refused. */
static bool feed(line_reader *reader, const char *bytes, size_t length, size_t most, char *out) {
    while (length) {
        size_t room, line_length;
        char *to = line_reader_room(reader, &room), *line;
        if (!to)
            return false;
        assert_true(room > 0);
        size_t part = length < most ? length : most;
        if (part > room)
            part = room;
        memcpy(to, bytes, part);
        line_reader_put(reader, part);
        bytes += part;
        length -= part;
        while ((line = line_reader_next(reader, &line_length))) {
            assert_int_equal(line[line_length], '\0');
            strncat(out, line, line_length);
            strcat(out, "|");
        }
    }
    return true;
}

static void finds_lines_at_every_split(void **state) {
    (void)state;
    static const char text[] = "one\n\ntwo three\nfour\nno end";
    for (size_t most = 1; most <= sizeof text; most++) {
        line_reader reader = {.max = 100};
        char out[100] = "";
        assert_true(feed(&reader, text, sizeof text - 1, most, out));
        assert_string_equal(out, "one||two three|four|");
        assert_true(feed(&reader, "\n", 1, 1, out));
        assert_string_equal(out, "one||two three|four|no end|");
        line_reader_free(&reader);
    }
}

static void takes_long_lines_and_gives_their_memory_back(void **state) {
    (void)state;
    line_reader reader = {.max = 8 << 20};
    size_t length = 5 << 20, room;
    char *text = malloc(length), *out = calloc(1, length + 10);
    memset(text, 'x', length);
    text[length - 1] = '\n';
    assert_true(feed(&reader, text, length, 10000, out));
    assert_int_equal(strlen(out), length);
    assert_true(reader.capacity >= length);
    assert_non_null(line_reader_room(&reader, &room));
    assert_true(reader.capacity < 1 << 20);
    line_reader_free(&reader);
    free(text);
    free(out);
}

static void refuses_lines_that_are_too_long(void **state) {
    (void)state;
    line_reader reader = {.max = 1000};
    size_t room;
    char *text = malloc(200000), out[2000] = "";
    memset(text, 'x', 200000);
    assert_false(feed(&reader, text, 200000, 500, out));
    assert_true(reader.end - reader.start < 2000);
    line_reader_free(&reader);
    /* Also one that comes with its end, all at once. */
    reader = (line_reader){.max = 1000};
    text[1000] = text[2002] = '\n';
    assert_true(feed(&reader, text, 2500, 2500, out) && line_reader_is_over(&reader));
    assert_null(line_reader_room(&reader, &room));
    assert_int_equal(strlen(out), 1001);
    line_reader_free(&reader);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_lines_at_every_split),
        cmocka_unit_test(takes_long_lines_and_gives_their_memory_back),
        cmocka_unit_test(refuses_lines_that_are_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
