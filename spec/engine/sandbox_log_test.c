/* sandbox_log_test.c - the log of a sandbox: what is kept, what is cut, and what a request gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log_query.h"

static const char *message_at(const struct sandbox_log *log, size_t index) {
    return sandbox_log_at(log, index)->message;
}

static void keeps_the_newest(void **state) {
    (void)state;
    struct sandbox_log log = {0};
    for (int i = 0; i < SANDBOX_LOG_ENTRIES + 10; i++)
        sandbox_log_add(&log, LOG_LEVEL_INFO, "number %d", i);
    assert_int_equal(log.count, SANDBOX_LOG_ENTRIES);
    assert_string_equal(message_at(&log, 0), "number 10");
    char last[32];
    snprintf(last, sizeof last, "number %d", SANDBOX_LOG_ENTRIES + 9);
    assert_string_equal(message_at(&log, SANDBOX_LOG_ENTRIES - 1), last);
    for (size_t i = 1; i < log.count; i++)
        assert_true(sandbox_log_at(&log, i)->at >= sandbox_log_at(&log, i - 1)->at);
    sandbox_log_free(&log);
}

static void say(struct sandbox_log *log, const char *text) {
    sandbox_log_said(log, text, strlen(text));
}

static void takes_the_agents_lines_in_any_pieces(void **state) {
    (void)state;
    struct sandbox_log log = {0};
    say(&log, "2026-01-31T12:00:00.000Z stepbox-agent[1] err");
    say(&log, "or: it broke\n\nplain words\n2026-01-31T12:00:00.000Z stepbox-agent[1] odd: x\n");
    say(&log, "not ended");
    assert_int_equal(log.count, 3);
    assert_string_equal(message_at(&log, 0), "it broke");
    assert_int_equal(sandbox_log_at(&log, 0)->level, LOG_LEVEL_ERROR);
    assert_string_equal(sandbox_log_at(&log, 0)->source, "agent");
    assert_string_equal(message_at(&log, 1), "plain words");
    assert_int_equal(sandbox_log_at(&log, 1)->level, LOG_LEVEL_WARN);
    assert_string_equal(message_at(&log, 2), "2026-01-31T12:00:00.000Z stepbox-agent[1] odd: x");
    sandbox_log_free(&log);
}

static void cuts_long_lines_and_rubbish(void **state) {
    (void)state;
    struct sandbox_log log = {0};
    for (int i = 0; i < 5000; i++)
        say(&log, "x");
    say(&log, "\n\xC3\xA9\xFF\xE2\x82 \x1B[0m\n");
    assert_int_equal(log.count, 2);
    assert_int_equal(strlen(message_at(&log, 0)), SANDBOX_LOG_MESSAGE);
    assert_string_equal(message_at(&log, 1), "\xC3\xA9??? ?[0m");
    sandbox_log_free(&log);
}

static void bears_any_bytes(void **state) {
    (void)state;
    struct sandbox_log log = {0};
    unsigned seed = 7;
    for (int round = 0; round < 2000; round++) {
        char bytes[64];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)(rand_r(&seed) >> 7);
        sandbox_log_said(&log, bytes, sizeof bytes);
    }
    for (size_t i = 0; i < log.count; i++)
        assert_true(strlen(message_at(&log, i)) <= SANDBOX_LOG_MESSAGE);
    sandbox_log_free(&log);
}

struct picked {
    char text[256];
};

static void pick(const sandbox_log_entry *entry, void *user) {
    struct picked *picked = user;
    strcat(picked->text, entry->message);
    strcat(picked->text, " ");
}

static char message[256];

static int set(struct log_query *query, const char *name, const char *value) {
    return log_query_set(query, name, value, message, sizeof message);
}

static void assert_picks(int version, const char *names[][2], const char *wanted) {
    static const char *const words[] = {"one", "two", "three", "four"};
    struct sandbox_log log = {0};
    for (int i = 0; i < 4; i++) {
        sandbox_log_add(&log, i == 2 ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "%s", words[i]);
        log.entries[i].at = 1000 + i;
    }
    struct log_query query;
    log_query_init(&query, version);
    for (int i = 0; names[i][0]; i++)
        assert_int_equal(set(&query, names[i][0], names[i][1]), 0);
    struct picked picked = {""};
    log_query_select(&query, &log, pick, &picked);
    assert_string_equal(picked.text, wanted);
    sandbox_log_free(&log);
}

static void picks_by_time_level_text_and_count(void **state) {
    (void)state;
    assert_picks(1, (const char *[][2]){{NULL, NULL}}, "one two three four ");
    assert_picks(2, (const char *[][2]){{NULL, NULL}}, "four three two one ");
    assert_picks(1, (const char *[][2]){{"start", "1002"}, {NULL, NULL}}, "three four ");
    assert_picks(2, (const char *[][2]){{"cursor", "1001"}, {NULL, NULL}}, "two one ");
    assert_picks(2, (const char *[][2]){{"cursor", "1001"}, {"direction", "forward"}, {NULL, NULL}},
                 "two three four ");
    assert_picks(2, (const char *[][2]){{"limit", "2"}, {NULL, NULL}}, "four three ");
    assert_picks(2, (const char *[][2]){{"limit", "0"}, {NULL, NULL}}, "");
    assert_picks(2, (const char *[][2]){{"level", "warn"}, {NULL, NULL}}, "three ");
    assert_picks(2, (const char *[][2]){{"search", "o"}, {"limit", "2"}, {NULL, NULL}},
                 "four two ");
}

static void refuses_what_does_not_fit(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"limit", "1001"},
        {"limit", "-1"},
        {"limit", "x"},
        {"limit", ""},
        {"cursor", "1e3"},
        {"cursor", "-5"},
        {"direction", "up"},
        {"level", "loud"},
        {"start", "5"},
        {"order", "asc"},
        {"cursor", "99999999999999999999"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct log_query query;
        log_query_init(&query, 2);
        if (set(&query, wrong[i][0], wrong[i][1]) == 0)
            fail_msg("%s=%s was taken", wrong[i][0], wrong[i][1]);
        assert_non_null(strstr(message, wrong[i][0]));
    }
    struct log_query query;
    log_query_init(&query, 2);
    char text[300];
    memset(text, 'x', 257);
    text[257] = '\0';
    assert_int_equal(set(&query, "search", text), -1);
    text[256] = '\0';
    assert_int_equal(set(&query, "search", text), 0);
    log_query_init(&query, 1);
    assert_int_equal(set(&query, "direction", "forward"), -1);
    assert_int_equal(set(&query, "limit", "5000"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_newest),
        cmocka_unit_test(takes_the_agents_lines_in_any_pieces),
        cmocka_unit_test(cuts_long_lines_and_rubbish),
        cmocka_unit_test(bears_any_bytes),
        cmocka_unit_test(picks_by_time_level_text_and_count),
        cmocka_unit_test(refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
