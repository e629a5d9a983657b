/* The answer to a step, without a network: events of all kinds, in pieces of every size, and
 * garbage. */
#include "guarded.h"
#include "step_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

struct fixture {
    struct sbi_execution execution;
    struct sbi_step_stream stream;
    struct sbi_events events;
    sb_error error;
};

static void begin(struct fixture *f, uint64_t max_output, bool events) {
    *f = (struct fixture){0};
    sbi_execution_init(&f->execution, max_output, events ? &f->events : NULL);
    sbi_step_stream_init(&f->stream, &f->execution);
}

static void end(struct fixture *f) {
    sbi_step_stream_free(&f->stream);
    sbi_events_free(&f->events);
    sbi_execution_free(&f->execution);
}

static int feed(struct fixture *f, const char *bytes, size_t length, size_t size) {
    for (size_t at = 0; at < length; at += size) {
        size_t left = length - at < size ? length - at : size;
        struct guarded piece = guarded_new(bytes + at, left);
        int status = sbi_step_stream_data(&f->stream, piece.bytes, left, &f->error);
        guarded_free(&piece);
        if (status != 0) {
            return -1;
        }
    }
    return sbi_step_stream_end(&f->stream, &f->error);
}

static int feed_text(struct fixture *f, const char *text) {
    return feed(f, text, strlen(text), strlen(text));
}

static const char all[] =
    "{\"type\": \"number_of_executions\", \"execution_count\": 7, \"restarted\": true}\n"
    "{\"type\": \"stdout\", \"text\": \"caf\\u00e9\\n\", \"timestamp\": "
    "\"2026-11-30T08:01:30.5+00:00\"}\n"
    "{\"type\": \"keepalive\"}\n"
    "{\"type\": \"stderr\", \"text\": \"oh\", \"timestamp\": \"2026-11-30T08:01:31+00:00\"}\n"
    "\n"
    "{\"type\": \"something_new\", \"x\": [1, {\"y\": null}]}\n"
    "{\"type\": \"result\", \"text\": \"<Figure>\", \"png\": \"aGVs\\nbG8=\", \"extra\": {}, "
    "\"is_main_result\": false}\n"
    "{\"type\": \"result\", \"text\": \"[1]\", \"json\": [1], \"html\": null, \"extra\": {\"a/b\": "
    "1}, \"is_main_result\": true}\n"
    "{\"type\": \"error\", \"name\": \"E\", \"value\": \"v\", \"traceback\": \"t\\u001b[0m\"}\n"
    "{\"type\": \"end_of_execution\"}\n";

static void tells_what_the_server_dropped_apart_from_output(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 1000, true);
    assert_int_equal(
        feed_text(&f, "{\"type\": \"stderr\", \"text\": \"mine\"}\n"
                      "{\"type\": \"stderr\", \"text\": \"[stepbox: ...]\", \"timestamp\": \"x\", "
                      "\"dropped\": {\"stdout\": 5, \"stderr\": 0, \"results\": 7}}\n"
                      "{\"type\": \"stderr\", \"text\": \"!\", \"dropped\": 1}\n"
                      "{\"type\": \"end_of_execution\"}\n"),
        0);
    const sb_execution *x = sbi_execution_view(&f.execution);
    assert_string_equal(x->err, "mine!");
    assert_true(x->out_truncated);
    assert_false(x->err_truncated);
    assert_int_equal(x->dropped, 12);
    assert_string_equal(sbi_events_next(&f.events)->output.data, "mine");
    assert_string_equal(sbi_events_next(&f.events)->output.data, "!");
    assert_null(sbi_events_next(&f.events));
    end(&f);
}

static const sb_format *format_of(const sb_result *result, const char *name) {
    for (size_t i = 0; i < result->format_count; i++) {
        if (strcmp(result->formats[i].name, name) == 0) {
            return &result->formats[i];
        }
    }
    return NULL;
}

static void check_all(const sb_execution *x) {
    assert_int_equal(x->execution_count, 7);
    assert_true(x->restarted);
    assert_string_equal(x->out, "caf\xc3\xa9\n");
    assert_string_equal(x->err, "oh");
    assert_int_equal(x->log_count, 2);
    assert_int_equal(x->logs[0].stream, SB_STDOUT);
    assert_true(x->logs[0].time == 1796025690.5);
    assert_int_equal(x->logs[1].stream, SB_STDERR);
    assert_int_equal(x->logs[1].length, 2);
    assert_int_equal(x->result_count, 2);
    assert_int_equal(x->results[0].logs_before, 2);
    assert_int_equal(x->results[0].format_count, 2);
    assert_false(x->results[0].is_main);
    const sb_format *png = format_of(&x->results[0], "png");
    assert_int_equal(png->kind, SB_FORMAT_BYTES);
    assert_int_equal(png->length, 5);
    assert_string_equal(png->data, "hello");
    assert_int_equal(x->results[1].format_count, 3);
    assert_int_equal(format_of(&x->results[1], "json")->kind, SB_FORMAT_JSON);
    assert_string_equal(format_of(&x->results[1], "json")->data, "[1]");
    assert_string_equal(format_of(&x->results[1], "extra")->data, "{\"a/b\":1}");
    assert_string_equal(sb_execution_text(x), "[1]");
    assert_string_equal(x->error->name, "E");
    assert_string_equal(x->error->traceback, "t\x1b[0m");
}

/* Output and results in one order, for whoever shows them as they came. */
static void results_know_how_much_output_came_before_them(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 4, false);
    assert_int_equal(feed_text(&f, "{\"type\": \"result\", \"text\": \"1\"}\n"
                                   "{\"type\": \"stdout\", \"text\": \"a\"}\n"
                                   "{\"type\": \"result\", \"text\": \"2\"}\n"
                                   "{\"type\": \"stderr\", \"text\": \"b\"}\n"
                                   "{\"type\": \"stdout\", \"text\": \"beyond what is kept\"}\n"
                                   "{\"type\": \"stdout\", \"text\": \"dropped\"}\n"
                                   "{\"type\": \"result\", \"text\": \"3\"}\n"
                                   "{\"type\": \"end_of_execution\"}\n"),
                     0);
    const sb_execution *x = sbi_execution_view(&f.execution);
    assert_int_equal(x->log_count, 3);
    const size_t before[] = {0, 1, 3};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(x->results[i].logs_before, before[i]);
    }
    end(&f);
}

static void an_answer_is_understood_in_pieces_of_any_size(void **state) {
    (void)state;
    for (size_t size = 1; size <= sizeof all; size++) {
        struct fixture f;
        begin(&f, 1000, false);
        assert_int_equal(feed(&f, all, sizeof all - 1, size), 0);
        assert_true(f.stream.has_ended);
        check_all(sbi_execution_view(&f.execution));
        end(&f);
    }
}

static void an_answer_is_understood_when_cut_in_two_anywhere(void **state) {
    (void)state;
    for (size_t cut = 0; cut <= sizeof all - 1; cut++) {
        struct fixture f;
        begin(&f, 1000, true);
        struct guarded first = guarded_new(all, cut);
        struct guarded second = guarded_new(all + cut, sizeof all - 1 - cut);
        assert_int_equal(sbi_step_stream_data(&f.stream, first.bytes, first.length, &f.error), 0);
        assert_int_equal(sbi_step_stream_data(&f.stream, second.bytes, second.length, &f.error), 0);
        guarded_free(&first);
        guarded_free(&second);
        check_all(sbi_execution_view(&f.execution));
        static const sb_event_type order[] = {SB_EVENT_OUTPUT, SB_EVENT_OUTPUT, SB_EVENT_RESULT,
                                              SB_EVENT_RESULT, SB_EVENT_ERROR};
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(sbi_events_next(&f.events)->type, order[i]);
        }
        assert_null(sbi_events_next(&f.events));
        end(&f);
    }
}

static void a_last_line_needs_no_end(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 1000, false);
    assert_int_equal(feed_text(&f, "{\"type\": \"end_of_execution\"}"), 0);
    assert_true(f.stream.has_ended);
    end(&f);
}

static void garbage_is_named_with_its_beginning(void **state) {
    (void)state;
    static const char *const garbage[] = {"<html>\n",
                                          "{\"type\": \"stdout\", \"text\": \"a\n",
                                          "null\n",
                                          "[]\n",
                                          "{}\n",
                                          "{\"type\": 1}\n",
                                          "{\"type\": \"stdout\"}\n",
                                          "{\"type\": \"stdout\", \"text\": \"\\x\"}\n",
                                          "{\"type\": \"result\", \"png\": \"*\"}\n",
                                          "{\"type\": \"result\", \"png\": 1}\n",
                                          "\xff\xfe\x00\n",
                                          "half a li"};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        struct fixture f;
        begin(&f, 1000, false);
        feed_text(&f, "{\"type\": \"stdout\", \"text\": \"kept\"}\n");
        assert_int_equal(feed_text(&f, garbage[i]), -1);
        assert_int_equal(f.error.code, SB_PROTOCOL);
        assert_true(strlen(f.error.message) > 5);
        assert_string_equal(sbi_execution_view(&f.execution)->out, "kept");
        end(&f);
    }
}

/* Whatever a server sends: no crash, no read beyond the input. */
static void random_bytes_are_survived(void **state) {
    (void)state;
    srand(1);
    for (int round = 0; round < 3000; round++) {
        char bytes[sizeof all];
        memcpy(bytes, all, sizeof all);
        for (int change = rand() % 8; change >= 0; change--) {
            bytes[(size_t)rand() % (sizeof all - 1)] = (char)rand();
        }
        struct fixture f;
        begin(&f, 4, round % 2 == 0);
        feed(&f, bytes, sizeof all - 1, 1 + (size_t)rand() % 100);
        sbi_execution_view(&f.execution);
        end(&f);
    }
}

static void output_beyond_the_bound_is_dropped_at_a_character(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 6, true);
    assert_int_equal(feed_text(&f, "{\"type\": \"stdout\", \"text\": \"abcd\"}\n"
                                   "{\"type\": \"stdout\", \"text\": \"e\\u20acf\"}\n"
                                   "{\"type\": \"stdout\", \"text\": \"g\"}\n"
                                   "{\"type\": \"stderr\", \"text\": \"123456\"}\n"),
                     0);
    const sb_execution *x = sbi_execution_view(&f.execution);
    assert_string_equal(x->out, "abcde");
    assert_true(x->out_truncated);
    assert_string_equal(x->err, "123456");
    assert_false(x->err_truncated);
    assert_int_equal(x->log_count, 3);
    /* Events come all the same. */
    assert_string_equal(sbi_events_next(&f.events)->output.data, "abcd");
    assert_string_equal(sbi_events_next(&f.events)->output.data, "e\xe2\x82\xac"
                                                                 "f");
    assert_string_equal(sbi_events_next(&f.events)->output.data, "g");
    end(&f);
}

static void a_runner_that_died_is_no_error_of_the_code(void **state) {
    (void)state;
    static const char *const names[] = {"ContextRestarting", "WebSocketError",
                                        "UnexpectedEndOfExecution"};
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        char line[200];
        begin(&f, 100, true);
        snprintf(
            line, sizeof line,
            "{\"type\": \"error\", \"name\": \"%s\", \"value\": \"why\", \"traceback\": \"\"}\n",
            names[i]);
        assert_int_equal(feed_text(&f, line), 0);
        assert_int_equal(f.stream.lost.code, SB_CONTEXT_LOST);
        assert_null(sbi_execution_view(&f.execution)->error);
        assert_null(sbi_events_next(&f.events));
        end(&f);
    }
    /* The code may raise something of that name. */
    struct fixture f;
    begin(&f, 100, false);
    assert_int_equal(feed_text(&f, "{\"type\": \"error\", \"name\": \"WebSocketError\", \"value\": "
                                   "\"\", \"traceback\": \"File x\"}\n"),
                     0);
    assert_int_equal(f.stream.lost.code, SB_OK);
    assert_string_equal(sbi_execution_view(&f.execution)->error->name, "WebSocketError");
    end(&f);
}

static void what_python_writes_beyond_json_is_taken(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 100, false);
    assert_int_equal(feed_text(&f, "{\"type\": \"result\", \"text\": \"\\ud800!\", \"json\": "
                                   "[123456789012345678901234567890], \"is_main_result\": true}\n"),
                     0);
    const sb_execution *x = sbi_execution_view(&f.execution);
    assert_string_equal(sb_execution_text(x), "\xef\xbf\xbd!");
    assert_non_null(strstr(format_of(&x->results[0], "json")->data, "1.2345678901234568e29"));
    end(&f);
}

/* A service may be wrong about its formats; whoever shows a text is still given one. */
static void a_text_that_is_none_is_the_text_of_what_it_is(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 100, false);
    assert_int_equal(feed_text(&f, "{\"type\": \"result\", \"text\": 5, \"html\": [\"a\", 1], "
                                   "\"svg\": null, \"is_main_result\": true}\n"),
                     0);
    const sb_execution *x = sbi_execution_view(&f.execution);
    assert_string_equal(sb_execution_text(x), "5");
    assert_int_equal(x->results[0].format_count, 2);
    assert_int_equal(format_of(&x->results[0], "text")->kind, SB_FORMAT_TEXT);
    assert_int_equal(format_of(&x->results[0], "html")->kind, SB_FORMAT_TEXT);
    assert_string_equal(format_of(&x->results[0], "html")->data, "[\"a\",1]");
    end(&f);
}

static void pieces_beyond_their_number_are_joined(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, 10 * 1000 * 1000, false);
    for (size_t i = 0; i < SBI_MAX_LOGS + 10; i++) {
        assert_int_equal(sbi_execution_add_output(&f.execution, SB_STDOUT, 0, "xy", 2, &f.error),
                         0);
    }
    const sb_execution *x = sbi_execution_view(&f.execution);
    assert_int_equal(x->log_count, SBI_MAX_LOGS);
    assert_int_equal(x->logs[SBI_MAX_LOGS - 1].length, 22);
    assert_int_equal(x->out_length, 2 * (SBI_MAX_LOGS + 10));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_the_server_dropped_apart_from_output),
        cmocka_unit_test(results_know_how_much_output_came_before_them),
        cmocka_unit_test(an_answer_is_understood_in_pieces_of_any_size),
        cmocka_unit_test(an_answer_is_understood_when_cut_in_two_anywhere),
        cmocka_unit_test(a_last_line_needs_no_end),
        cmocka_unit_test(garbage_is_named_with_its_beginning),
        cmocka_unit_test(random_bytes_are_survived),
        cmocka_unit_test(output_beyond_the_bound_is_dropped_at_a_character),
        cmocka_unit_test(a_runner_that_died_is_no_error_of_the_code),
        cmocka_unit_test(what_python_writes_beyond_json_is_taken),
        cmocka_unit_test(a_text_that_is_none_is_the_text_of_what_it_is),
        cmocka_unit_test(pieces_beyond_their_number_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
