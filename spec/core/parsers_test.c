/* The parsers of foreign bytes: each input ends at an unreadable page, and comes in every kind of
 * piece. */
#include "base64.h"
#include "connect_frame.h"
#include "guarded.h"
#include "ndjson.h"
#include "output_line.h"
#include "text.h"
#include "timestamp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static ssize_t decode(const char *text, unsigned char *out) {
    struct guarded guarded = guarded_new(text, strlen(text));
    ssize_t length = sbi_base64_decode(guarded.bytes, guarded.length, out);
    guarded_free(&guarded);
    return length;
}

static void base64_is_decoded_with_white_space_and_without_padding(void **state) {
    (void)state;
    unsigned char out[64];
    static const struct {
        const char *text, *bytes;
        int length;
    } good[] = {{"", "", 0},
                {"Zg==", "f", 1},
                {"Zm8=", "fo", 2},
                {"Zm9v", "foo", 3},
                {"Zm9vYg==", "foob", 4},
                {"Zm9v\nYmFy", "foobar", 6},
                {"Z g\r\n= =", "f", 1},
                {"Zg", "f", 1},
                {"Zm8", "fo", 2},
                {"/+8A", "\xff\xef\0", 3}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(decode(good[i].text, out), good[i].length);
        assert_memory_equal(out, good[i].bytes, (size_t)good[i].length);
        assert_true(sbi_base64_room(strlen(good[i].text)) >= (size_t)good[i].length);
    }
}

static void bad_base64_is_refused(void **state) {
    (void)state;
    unsigned char out[64];
    static const char *const bad[] = {
        "Z",    "=",     "Z===", "Zg=",      "Zm8==",           "Zm9v=",
        "Zm*v", "Zg==Z", "-_-_", "Zm9vY===", "\xff\xff\xff\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(decode(bad[i], out), -1);
    }
}

static bool parse_time(const char *text, double *seconds) {
    struct guarded guarded = guarded_new(text, strlen(text));
    bool good = sbi_timestamp_parse(guarded.bytes, guarded.length, seconds);
    guarded_free(&guarded);
    return good;
}

static void timestamps_become_unix_seconds(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"1970-01-01T00:00:00Z", 0},
                {"2026-11-30T08:01:30.198234+00:00", 1796025690.198234},
                {"2026-11-30T09:31:30+01:30", 1796025690},
                {"2000-02-29T23:59:60-00:30", 951870600},
                {"2026-11-30 08:01:30.5z", 1796025690.5}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double seconds;
        assert_true(parse_time(good[i].text, &seconds));
        assert_true(seconds > good[i].seconds - 1e-6 && seconds < good[i].seconds + 1e-6);
    }
    static const char *const bad[] = {"",
                                      "2026",
                                      "2026-13-01T00:00:00Z",
                                      "2026-11-30T08:01:30",
                                      "2026-11-30T08:01:30+0100",
                                      "2026-11-30T08:01:30Zx",
                                      "2026-11-30T25:01:30Z",
                                      "garbage"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double seconds;
        assert_false(parse_time(bad[i], &seconds));
    }
}

static void text_for_messages_is_printable_utf8(void **state) {
    (void)state;
    char text[] = "a\nb\x01\xff\xc3\xa9\xe2\x82"; /* the last character is cut */
    sbi_text_clean(text);
    assert_string_equal(text, "a b ?\xc3\xa9");
    char out[6];
    assert_string_equal(sbi_text_excerpt(out, sizeof out, "abcd\xc3\xa9", 6), "abcd");
    assert_int_equal(sbi_utf8_floor("ab\xe2\x82\xac", 4), 2);
    assert_int_equal(sbi_utf8_floor("ab\xe2\x82\xac", 5), 5);
    assert_int_equal(sbi_utf8_sequence("\xed\xa0\x80", 3), 0); /* a surrogate */
    assert_int_equal(sbi_utf8_sequence("\xc0\x80", 2), 0);     /* overlong */
    assert_int_equal(sbi_utf8_sequence("\xf4\x90\x80\x80", 4), 0);
    assert_int_equal(sbi_utf8_sequence("\xf0\x9f\x98\x80", 4), 4);
}

static void what_goes_into_urls_and_headers_is_checked(void **state) {
    (void)state;
    assert_true(sbi_is_sandbox_id("iAb-9_z"));
    assert_false(sbi_is_sandbox_id(""));
    assert_false(sbi_is_sandbox_id("a/../b"));
    assert_false(sbi_is_sandbox_id("a.b"));
    assert_true(sbi_is_domain("e2b.example:8080"));
    assert_false(sbi_is_domain("e2b.example/x"));
    assert_false(sbi_is_header_value("a\r\nX: y"));
    assert_true(sbi_is_header_value("a b\tc"));
    assert_false(sbi_is_header_name("X Y"));
    struct sbi_buffer out;
    sbi_buffer_init(&out, 100);
    assert_int_equal(sbi_percent_encode(&out, "a b&\xc3\xa9~", 7), SB_OK);
    assert_string_equal(out.data, "a%20b%26%C3%A9~");
    sbi_buffer_free(&out);
}

static void buffers_keep_to_their_bound(void **state) {
    (void)state;
    struct sbi_buffer buffer;
    sbi_buffer_init(&buffer, 5);
    assert_string_equal(sbi_buffer_string(&buffer), "");
    assert_int_equal(sbi_buffer_append(&buffer, "abc", 3), SB_OK);
    assert_int_equal(sbi_buffer_append(&buffer, "def", 3), SB_TOO_LARGE);
    assert_string_equal(buffer.data, "abc");
    assert_int_equal(sbi_buffer_append(&buffer, "de", 2), SB_OK);
    assert_true(buffer.capacity <= 6);
    char *taken = sbi_buffer_take(&buffer);
    assert_string_equal(taken, "abcde");
    free(taken);
    assert_int_equal(buffer.length, 0);
}

/* Feeds the bytes in pieces of `size` and joins the lines with '|'. */
static void join_lines(const char *bytes, size_t length, size_t size, char *out) {
    struct sbi_lines lines;
    sbi_lines_init(&lines, 1000);
    out[0] = '\0';
    for (size_t at = 0; at < length; at += size) {
        size_t left = length - at < size ? length - at : size, line_length;
        struct guarded piece = guarded_new(bytes + at, left);
        const char *in = piece.bytes, *line;
        while (sbi_lines_next(&lines, &in, &left, &line, &line_length) == SBI_PARSE_ITEM) {
            strncat(out, line, line_length);
            strcat(out, "|");
        }
        assert_int_equal(left, 0);
        guarded_free(&piece);
    }
    size_t rest_length;
    const char *rest = sbi_lines_rest(&lines, &rest_length);
    strncat(out, rest, rest_length);
    sbi_lines_free(&lines);
}

static void lines_are_the_same_in_pieces_of_any_size(void **state) {
    (void)state;
    const char bytes[] = "one\n\ntwo three\nfour\n\n\nfive";
    for (size_t size = 1; size <= sizeof bytes; size++) {
        char out[100];
        join_lines(bytes, sizeof bytes - 1, size, out);
        assert_string_equal(out, "one||two three|four|||five");
    }
}

static void a_line_beyond_the_bound_is_refused(void **state) {
    (void)state;
    static const size_t pieces[] = {3, 30};
    for (size_t i = 0; i < 2; i++) {
        struct sbi_lines lines;
        sbi_lines_init(&lines, 10);
        const char bytes[] = "0123456789\n0123456789a\n";
        enum sbi_parse parsed = SBI_PARSE_MORE;
        int items = 0;
        for (size_t at = 0; at < sizeof bytes - 1 && parsed != SBI_PARSE_TOO_LARGE;
             at += pieces[i]) {
            size_t left = sizeof bytes - 1 - at, length;
            left = left < pieces[i] ? left : pieces[i];
            const char *in = bytes + at, *line;
            while ((parsed = sbi_lines_next(&lines, &in, &left, &line, &length)) ==
                   SBI_PARSE_ITEM) {
                items++;
            }
        }
        assert_int_equal(parsed, SBI_PARSE_TOO_LARGE);
        assert_int_equal(items, 1);
        sbi_lines_free(&lines);
    }
}

static size_t put_frame(char *out, unsigned flags, const char *payload) {
    sbi_frame_header((unsigned char *)out, flags, strlen(payload));
    memcpy(out + SBI_FRAME_HEADER, payload, strlen(payload));
    return SBI_FRAME_HEADER + strlen(payload);
}

static void frames_are_the_same_in_pieces_of_any_size(void **state) {
    (void)state;
    char bytes[200];
    size_t length = put_frame(bytes, 0, "{\"a\":1}");
    length += put_frame(bytes + length, 0, "");
    length += put_frame(bytes + length, 0, "a longer payload of a frame");
    length += put_frame(bytes + length, SBI_FRAME_END, "{}");
    for (size_t size = 1; size <= length; size++) {
        struct sbi_frames frames;
        sbi_frames_init(&frames, 100);
        char out[200] = "";
        for (size_t at = 0; at < length; at += size) {
            size_t left = length - at < size ? length - at : size;
            struct guarded piece = guarded_new(bytes + at, left);
            const char *in = piece.bytes;
            struct sbi_frame frame;
            while (sbi_frames_next(&frames, &in, &left, &frame) == SBI_PARSE_ITEM) {
                sprintf(out + strlen(out), "%u:%.*s|", frame.flags, (int)frame.length,
                        frame.payload != NULL ? frame.payload : "");
            }
            guarded_free(&piece);
        }
        assert_string_equal(out, "0:{\"a\":1}|0:|0:a longer payload of a frame|2:{}|");
        assert_true(sbi_frames_are_between(&frames));
        sbi_frames_free(&frames);
    }
}

static void a_frame_that_announces_too_much_is_refused_before_it_comes(void **state) {
    (void)state;
    struct sbi_frames frames;
    struct sbi_frame frame;
    sbi_frames_init(&frames, 100);
    const char *in = "\0\xff\xff\xff\xff";
    size_t left = 5;
    assert_int_equal(sbi_frames_next(&frames, &in, &left, &frame), SBI_PARSE_TOO_LARGE);
    sbi_frames_free(&frames);
}

static bool read_line(const char *line, struct sbi_output_line *out) {
    struct guarded guarded = guarded_new(line, strlen(line));
    bool good = sbi_output_line_read(guarded.bytes, guarded.length, out);
    guarded_free(&guarded);
    return good;
}

static void the_fast_reader_takes_output_lines_and_nothing_else(void **state) {
    (void)state;
    struct sbi_output_line out;
    assert_true(
        read_line("{\"type\": \"stdout\", \"text\": \"a\\n\", \"timestamp\": \"t\"}", &out));
    assert_int_equal(out.stream, SB_STDOUT);
    assert_int_equal(out.text_length, 3);
    assert_true(read_line(" {\"text\":\"\",\"type\":\"stderr\"} \r", &out));
    assert_int_equal(out.stream, SB_STDERR);
    static const char *const others[] = {
        "",
        "{",
        "{}",
        "{\"type\":\"stdout\"}",
        "{\"type\":\"stdout\",\"text\":\"a}",
        "{\"type\":\"stdout\",\"text\":\"a\\",
        "{\"type\":\"stdout\",\"text\":\"a\\\"}",
        "{\"type\":\"stdout\",\"text\":1}",
        "{\"type\":\"stdout\",\"text\":\"a\"} x",
        "{\"type\":\"stdout\",\"text\":\"a\",}",
        "{\"type\":\"result\",\"text\":\"a\"}",
        "{\"type\":\"stdout\",\"text\":\"a\",\"text\":\"b\"}",
        "{\"type\":\"stdout\",\"text\":\"\xc3\xa9\"}",
        "{\"type\":\"stdout\",\"text\":\"a\",\"timestamp\":\"\\u:\"}",
        "[\"type\"]"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(read_line(others[i], &out));
    }
}

/* Every prefix of a good line is refused, and no byte behind it is read. */
static void no_prefix_of_an_output_line_is_one(void **state) {
    (void)state;
    const char line[] = "{\"type\": \"stdout\", \"text\": \"\\u00e9\\\"x\", \"timestamp\": \"t\"}";
    for (size_t length = 0; length < sizeof line - 1; length++) {
        struct sbi_output_line out;
        struct guarded guarded = guarded_new(line, length);
        assert_false(sbi_output_line_read(guarded.bytes, length, &out));
        guarded_free(&guarded);
    }
}

static sb_code unescape(const char *text, struct sbi_buffer *out) {
    struct guarded guarded = guarded_new(text, strlen(text));
    sbi_buffer_clear(out, 1000);
    sb_code code = sbi_json_unescape(out, guarded.bytes, guarded.length);
    guarded_free(&guarded);
    return code;
}

static void escapes_of_strings_are_undone(void **state) {
    (void)state;
    struct sbi_buffer out;
    sbi_buffer_init(&out, 1000);
    assert_int_equal(unescape("a\\n\\t\\\\\\\"\\/\\b\\f\\r", &out), SB_OK);
    assert_string_equal(out.data, "a\n\t\\\"/\b\f\r");
    assert_int_equal(unescape("\\u0041\\u00e9\\u20AC\\ud83d\\ude00", &out), SB_OK);
    assert_string_equal(out.data, "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_int_equal(unescape("\\ud83d\\ud83d\\ude00\\ude00x\\ud800", &out), SB_OK);
    assert_string_equal(out.data, "\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbdx\xef\xbf\xbd");
    assert_int_equal(unescape("a\\u0000b", &out), SB_OK);
    assert_int_equal(out.length, 3);
    static const char *const bad[] = {"\\", "\\x", "\\u12", "\\u12g4", "a\\u"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(unescape(bad[i], &out), SB_PROTOCOL);
        assert_int_equal(out.length, 0);
    }
    sbi_buffer_free(&out);
}

static void lone_surrogates_are_mended_in_place(void **state) {
    (void)state;
    const char text[] = "\"\\ud800 \\ud83d\\ude00 \\\\ud800 \\udc00\"";
    struct guarded guarded = guarded_new(text, sizeof text - 1);
    assert_true(sbi_json_mend_surrogates(guarded.bytes, guarded.length));
    assert_memory_equal(guarded.bytes, "\"\\ufffd \\ud83d\\ude00 \\\\ud800 \\ufffd\"",
                        guarded.length);
    assert_false(sbi_json_mend_surrogates(guarded.bytes, guarded.length));
    guarded_free(&guarded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_is_decoded_with_white_space_and_without_padding),
        cmocka_unit_test(bad_base64_is_refused),
        cmocka_unit_test(timestamps_become_unix_seconds),
        cmocka_unit_test(text_for_messages_is_printable_utf8),
        cmocka_unit_test(what_goes_into_urls_and_headers_is_checked),
        cmocka_unit_test(buffers_keep_to_their_bound),
        cmocka_unit_test(lines_are_the_same_in_pieces_of_any_size),
        cmocka_unit_test(a_line_beyond_the_bound_is_refused),
        cmocka_unit_test(frames_are_the_same_in_pieces_of_any_size),
        cmocka_unit_test(a_frame_that_announces_too_much_is_refused_before_it_comes),
        cmocka_unit_test(the_fast_reader_takes_output_lines_and_nothing_else),
        cmocka_unit_test(no_prefix_of_an_output_line_is_one),
        cmocka_unit_test(escapes_of_strings_are_undone),
        cmocka_unit_test(lone_surrogates_are_mended_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
