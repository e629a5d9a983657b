/* multipart_test.c - multipart bodies, however they are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "multipart.h"

#include "../support/guarded.h"
#include "../support/rubbish.h"

#include <stdio.h>
#include <string.h>

struct seen {
    char text[2000]; /* "name|filename|data\n" for each part */
    size_t length;
};

static void note(struct seen *seen, const char *bytes, size_t length) {
    assert_true(seen->length + length < sizeof seen->text);
    memcpy(seen->text + seen->length, bytes, length);
    seen->length += length;
    seen->text[seen->length] = '\0';
}

static int see_begin(void *user, const char *name, const char *filename, size_t length) {
    note(user, name ? name : "-", name ? strlen(name) : 1);
    note(user, "|", 1);
    note(user, filename ? filename : "-", filename ? length : 1);
    note(user, "|", 1);
    return name && strcmp(name, "stop") == 0 ? -1 : 0;
}

static int see_data(void *user, const char *bytes, size_t length) {
    assert_true(length > 0);
    note(user, bytes, length);
    return 0;
}

static int see_end(void *user) {
    note(user, "\n", 1);
    return 0;
}

static const multipart_events see = {see_begin, see_data, see_end};

/* Feeds a body in pieces of that size (0: of random sizes), each at an unreadable page's edge. */
static int parse(const char *body, size_t length, size_t step, struct seen *seen) {
    const char *fault;
    seen->length = 0;
    seen->text[0] = '\0';
    multipart *parser =
        multipart_new("multipart/form-data; boundary=\"a-b\"; charset=x", &see, seen, &fault);
    assert_non_null(parser);
    int failed = 0;
    for (size_t at = 0, size; at < length && !failed; at += size) {
        size = step ? step : 1 + rubbish(9);
        if (size > length - at)
            size = length - at;
        failed = multipart_feed(parser, guarded(body + at, size), size);
    }
    if (!failed)
        failed = multipart_end(parser);
    multipart_free(parser);
    return failed;
}

static void expect_parts(const char *body, size_t length, const char *expected,
                         size_t expected_length) {
    struct seen seen;
    for (size_t step = 0; step < 40; step++) {
        assert_int_equal(parse(body, length, step, &seen), 0);
        assert_int_equal(seen.length, expected_length);
        assert_memory_equal(seen.text, expected, expected_length);
    }
}

#define PARTS(body, expected) expect_parts(body, sizeof body - 1, expected, sizeof expected - 1)
#define HEAD "Content-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"

static void takes_multipart_apart(void **state) {
    (void)state;
    PARTS("--a-b\r\n" HEAD "hello\r\n--a-b--\r\n", "file|f|hello\n");
    PARTS("preamble\r\n--a-b \t\r\ncontent-DISPOSITION:form-data; name=n\r\nX: y\r\n\r\n1\r\n--a-b"
          "\r\n\r\n2\r\n--a-b--epilogue\r\n--a-b\r\n",
          "n|-|1\n-|-|2\n");
    /* Empty parts, with and without a line's end of their own. */
    PARTS("--a-b\r\n" HEAD "\r\n--a-b\r\n" HEAD "--a-b--", "file|f|\nfile|f|\n");
    /* Much that begins like a delimiter. */
    PARTS("--a-b\r\n" HEAD "\r\n--a-\r\n--a-c\r\r\n\r\n-\n--a-b\r\n--a-b--",
          "file|f|\r\n--a-\r\n--a-c\r\r\n\r\n-\n--a-b\n");
    PARTS("--a-b\r\n" HEAD "--a-\0\xff--a-b\r\n--a-b--", "file|f|--a-\0\xff--a-b\n");
    /* Lines that end without \r. */
    PARTS("--a-b\nContent-Disposition: x; name=n\n\nd\r\n--a-b--", "n|-|d\n");
    PARTS("--a-b--", "");
}

static void refuses_malformed_multipart(void **state) {
    (void)state;
    struct seen seen;
    const char *bad[] = {"",
                         "nothing",
                         "--a-b",
                         "--a-b\r\n",
                         "--a-b\r\n" HEAD "hello",
                         "--a-b\r\n" HEAD "hello\r\n--a-b",
                         "--a-b\r\n" HEAD "hello\r\n--a-b-\r\n",
                         "--a-bc\r\n" HEAD "hello\r\n--a-b--",
                         "--a-b\r\nContent-Disposition: form-data; name=\"x\r\n\r\n\r\n--a-b--",
                         "--a-b\r\nContent-Disposition: form-data; name=stop\r\n\r\n\r\n--a-b--"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i], strlen(bad[i]), 3, &seen) == 0)
            fail_msg("%s", bad[i]);
    }
    assert_int_equal(parse("--a-b\r\nX: \0\r\n\r\n\r\n--a-b--", 24, 3, &seen), -1);
    const char *types[] = {"text/plain; boundary=a", "multipart/form-data",
                           "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
                           "multipart/form-data; boundary=\"a\r\nb\""};
    const char *fault;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_null(multipart_new(types[i], &see, &seen, &fault));
        assert_non_null(fault);
    }
    char type[300];
    snprintf(type, sizeof type, "multipart/form-data; boundary=%0250d", 1);
    assert_null(multipart_new(type, &see, &seen, &fault));
}

static void bounds_the_headers_of_a_part(void **state) {
    (void)state;
    const char *fault;
    struct seen seen = {.length = 0};
    multipart *parser = multipart_new("multipart/form-data; boundary=a", &see, &seen, &fault);
    assert_int_equal(multipart_feed(parser, "--a\r\nX: ", 8), 0);
    int fed = 0;
    while (fed < 100 && multipart_feed(parser, "0123456789012345678901234567890123456789", 40) == 0)
        fed++;
    while (fed < 10000 && multipart_feed(parser, "0123456789\r\n", 12) == 0)
        fed++;
    assert_true(fed < 10000);
    assert_non_null(strstr(multipart_fault(parser), "too long"));
    multipart_free(parser);
}

static void takes_rubbish_for_multipart(void **state) {
    (void)state;
    static const char *const words[] = {
        "--a-b", "\r\n", "--", "Content-Disposition: ", "name=", "\"file\"", ";",
        "x",     "\n",   "\r", "filename*=UTF-8''%",    "\\"};
    for (int round = 0; round < 20000; round++) {
        char body[600];
        size_t length = 0;
        struct seen seen, again;
        for (unsigned i = 0, count = rubbish(25); i < count; i++) {
            const char *word = words[rubbish(sizeof words / sizeof *words)];
            if (rubbish(15) == 0) {
                body[length++] = (char)rubbish(256);
            } else {
                memcpy(body + length, word, strlen(word));
                length += strlen(word);
            }
        }
        /* However it is cut, it means the same. */
        int first = parse(body, length, length ? length : 1, &seen);
        int second = parse(body, length, 0, &again);
        assert_int_equal(first, second);
        if (first == 0) {
            assert_int_equal(seen.length, again.length);
            assert_memory_equal(seen.text, again.text, seen.length);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_multipart_apart),
        cmocka_unit_test(refuses_malformed_multipart),
        cmocka_unit_test(bounds_the_headers_of_a_part),
        cmocka_unit_test(takes_rubbish_for_multipart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
