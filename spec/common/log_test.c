/* log_test.c - one line per message, whatever is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "log.h"

static char text[8192];

/* What log_at() writes to stderr goes to text while fn runs. */
static const char *capture(void (*fn)(void)) {
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    dup2(ends[1], STDERR_FILENO);
    fn();
    dup2(saved, STDERR_FILENO);
    ssize_t got = read(ends[0], text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    close(ends[0]);
    close(ends[1]);
    close(saved);
    return text;
}

static void say_all(void) {
    log_error("an error");
    log_warn("a warning");
    log_info("a notice");
    log_debug("a detail");
}

static size_t lines(const char *written) {
    size_t count = 0;
    for (const char *c = written; *c; c++)
        count += *c == '\n';
    return count;
}

static void levels_choose(void **state) {
    (void)state;
    static const char *const names[] = {"error", "warn", "info", "debug"};
    for (size_t i = 0; i < 4; i++) {
        log_level level;
        assert_int_equal(log_level_parse(names[i], &level), 0);
        log_open("program", level);
        assert_int_equal(lines(capture(say_all)), i + 1);
        assert_non_null(strstr(text, "program["));
        assert_non_null(strstr(text, " error: an error\n"));
    }
    log_level level;
    assert_int_equal(log_level_parse("loud", &level), -1);
    assert_int_equal(log_level_parse("", &level), -1);
}

static void say_foreign(void) {
    log_error("%s", "two\nlines\r\x1b[31m and more");
}

static void foreign_bytes_stay_on_one_line(void **state) {
    (void)state;
    capture(say_foreign);
    assert_int_equal(lines(text), 1);
    assert_non_null(strstr(text, "two?lines??[31m and more\n"));
}

static void say_much(void) {
    static char much[5000];
    memset(much, 'x', sizeof much - 1);
    errno = ENOENT;
    log_error("%s", much);
    assert_int_equal(errno, ENOENT);
}

static void long_messages_are_cut(void **state) {
    (void)state;
    capture(say_much);
    assert_int_equal(lines(text), 1);
    assert_true(strlen(text) <= 1024);
    assert_int_equal(text[strlen(text) - 1], '\n');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_choose),
        cmocka_unit_test(foreign_bytes_stay_on_one_line),
        cmocka_unit_test(long_messages_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
