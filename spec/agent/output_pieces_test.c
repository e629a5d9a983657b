/* output_pieces_test.c - when output becomes events, and how large they are. */
#include "output_pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct ev_loop *loop;
    output_pieces *pieces;
    int events;
    size_t longest;
    char text[OUTPUT_STREAMS][1 << 20]; /* all of a stream so far */
    size_t length[OUTPUT_STREAMS];
    char order[1000]; /* 'o' and 'e' */
} got;

static void take(void *user, const char *line, size_t length) {
    (void)user;
    assert_int_equal(line[length - 1], '\n');
    json_t *event = json_loadb(line, length, JSON_ALLOW_NUL, NULL);
    assert_non_null(event);
    const char *type = json_string_value(json_object_get(event, "type"));
    const json_t *text = json_object_get(event, "text");
    const char *time = json_string_value(json_object_get(event, "timestamp"));
    assert_int_equal(strlen(time), strlen("2026-01-31T12:00:00.000000+00:00"));
    assert_true(json_string_length(text) > 0);
    int stream = strcmp(type, "stderr") == 0 ? OUTPUT_STDERR : OUTPUT_STDOUT;
    memcpy(got.text[stream] + got.length[stream], json_string_value(text),
           json_string_length(text));
    got.length[stream] += json_string_length(text);
    got.text[stream][got.length[stream]] = '\0';
    if (got.events < (int)sizeof got.order - 1)
        got.order[got.events] = stream == OUTPUT_STDERR ? 'e' : 'o';
    got.events++;
    if (length > got.longest)
        got.longest = length;
    json_decref(event);
}

static int set_up(void **state) {
    (void)state;
    memset(&got, 0, sizeof got);
    got.loop = ev_loop_new(EVFLAG_AUTO);
    got.pieces = malloc(sizeof *got.pieces);
    output_pieces_init(got.pieces, got.loop, take, NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    output_pieces_drop(got.pieces);
    free(got.pieces);
    ev_loop_destroy(got.loop);
    return 0;
}

static void add(int stream, const char *text) {
    output_pieces_add(got.pieces, stream, text, strlen(text));
}

static void sends_the_first_at_once_and_joins_the_next(void **state) {
    (void)state;
    add(OUTPUT_STDOUT, "a");
    assert_int_equal(got.events, 1);
    add(OUTPUT_STDOUT, "b");
    add(OUTPUT_STDOUT, "c");
    assert_int_equal(got.events, 1);
    ev_run(got.loop, 0); /* until the timer has fired */
    assert_int_equal(got.events, 2);
    assert_string_equal(got.text[OUTPUT_STDOUT], "abc");
    ev_sleep(0.01);
    ev_now_update(got.loop);
    add(OUTPUT_STDOUT, "d");
    assert_int_equal(got.events, 3);
}

static void keeps_the_order_of_the_streams(void **state) {
    (void)state;
    add(OUTPUT_STDOUT, "1");
    add(OUTPUT_STDOUT, "2");
    add(OUTPUT_STDERR, "3");
    add(OUTPUT_STDERR, "4");
    add(OUTPUT_STDOUT, "5");
    output_pieces_end(got.pieces);
    assert_string_equal(got.order, "ooeo");
    assert_string_equal(got.text[OUTPUT_STDOUT], "125");
    assert_string_equal(got.text[OUTPUT_STDERR], "34");
}

static void puts_split_characters_together_on_each_stream(void **state) {
    (void)state;
    add(OUTPUT_STDOUT, "x");
    add(OUTPUT_STDOUT, "\xe2\x98");
    add(OUTPUT_STDERR, "\xf0\x9f");
    add(OUTPUT_STDOUT, "\x83");
    add(OUTPUT_STDERR, "\x98\x80");
    output_pieces_end(got.pieces);
    assert_string_equal(got.text[OUTPUT_STDOUT], "x\xe2\x98\x83");
    assert_string_equal(got.text[OUTPUT_STDERR], "\xf0\x9f\x98\x80");
}

static void replaces_a_character_that_never_ends(void **state) {
    (void)state;
    add(OUTPUT_STDOUT, "a\xe2");
    add(OUTPUT_STDERR, "\xf0\x9f");
    output_pieces_flush(got.pieces);
    assert_int_equal(got.events, 1);
    output_pieces_end(got.pieces);
    assert_string_equal(got.text[OUTPUT_STDOUT], "a\xef\xbf\xbd");
    assert_string_equal(got.text[OUTPUT_STDERR], "\xef\xbf\xbd");
}

static void keeps_events_below_their_limit(void **state) {
    (void)state;
    static char bytes[300000];
    memset(bytes, 'x', 100000);
    memset(bytes + 100000, 1, 100000); /* six characters each */
    for (int i = 200000; i < 300000; i += 2)
        memcpy(bytes + i, "\xc3\xa9", 2);
    output_pieces_add(got.pieces, OUTPUT_STDOUT, bytes, sizeof bytes);
    output_pieces_end(got.pieces);
    assert_int_equal(got.length[OUTPUT_STDOUT], sizeof bytes);
    assert_memory_equal(got.text[OUTPUT_STDOUT], bytes, sizeof bytes);
    assert_true(got.longest <= OUTPUT_EVENT_MAX);
    assert_true(got.longest > OUTPUT_EVENT_MAX - 200);
    assert_true(got.events <= (100000 + 600000 + 300000) / (OUTPUT_EVENT_MAX - 200) + 2);
}

static void forgets_what_is_dropped(void **state) {
    (void)state;
    add(OUTPUT_STDOUT, "a");
    add(OUTPUT_STDOUT, "b\xe2");
    output_pieces_drop(got.pieces);
    add(OUTPUT_STDOUT, "\x98");
    output_pieces_end(got.pieces);
    assert_string_equal(got.text[OUTPUT_STDOUT], "a\xef\xbf\xbd");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sends_the_first_at_once_and_joins_the_next),
        TEST(keeps_the_order_of_the_streams),
        TEST(puts_split_characters_together_on_each_stream),
        TEST(replaces_a_character_that_never_ends),
        TEST(keeps_events_below_their_limit),
        TEST(forgets_what_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
