/* first_request_test.c - what of a connection a sandbox that a header names gets to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../support/guarded.h"
#include "first_request.h"

static size_t admit(struct first_request *request, const char *text, enum pump_rest *rest) {
    size_t length = strlen(text);
    return first_request_gate.admit(request, guarded(text, length), length, rest);
}

static bool answer(struct first_request *request, const char *text) {
    size_t length = strlen(text);
    return first_request_gate.answered(request, guarded(text, length), length);
}

static void a_plain_request_is_all_that_passes(void **state) {
    (void)state;
    struct first_request request;
    enum pump_rest rest = PUMP_HOLD;
    first_request_init(&request, &(struct route){.content_length = 5});
    assert_int_equal(admit(&request, "helloGET /", &rest), 5);
    assert_int_equal(rest, PUMP_DROP);
    assert_false(answer(&request, "HTTP/1.1 101 Switching Protocols\r\n\r\n"));
    assert_int_equal(admit(&request, "more", &rest), 0);
    assert_int_equal(rest, PUMP_DROP);
}

static void all_passes_once_the_upgrade_is_agreed_to(void **state) {
    (void)state;
    struct first_request request;
    enum pump_rest rest = PUMP_DROP;
    first_request_init(&request, &(struct route){.upgrade = true, .content_length = 5});
    assert_int_equal(admit(&request, "helloearly", &rest), 5);
    assert_int_equal(rest, PUMP_HOLD);
    assert_true(answer(&request, "HTTP/1.1 101 Switching Protocols\r\n"));
    assert_int_equal(admit(&request, "early", &rest), 5);
    assert_false(answer(&request, "HTTP/1.1 200 OK\r\n"));
    assert_int_equal(admit(&request, "later", &rest), 5);
}

static void nothing_more_passes_once_the_upgrade_is_declined(void **state) {
    (void)state;
    struct first_request request;
    enum pump_rest rest;
    first_request_init(&request, &(struct route){.upgrade = true});
    assert_int_equal(admit(&request, "early", &rest), 0);
    assert_true(answer(&request, "HTTP/1.1 400 Bad Request\r\n\r\nHTTP/1.1 101 \r\n"));
    assert_int_equal(admit(&request, "early", &rest), 0);
    assert_int_equal(rest, PUMP_DROP);
}

static enum upgrade_verdict verdict(const char *text, size_t piece) {
    struct upgrade_answer upgrade = {0};
    enum upgrade_verdict last = UPGRADE_PENDING;
    for (size_t at = 0, total = strlen(text); at < total; at += piece) {
        size_t length = total - at < piece ? total - at : piece;
        last = upgrade_answer_feed(&upgrade, guarded(text + at, length), length);
    }
    return last;
}

static void the_status_decides_in_whatever_pieces_it_comes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum upgrade_verdict verdict;
    } cases[] = {
        {"HTTP/1.1 101 Switching Protocols\r\n", UPGRADE_AGREED},
        {"HTTP/1.1 101\r\n", UPGRADE_AGREED},
        {"HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 101 S\r\n", UPGRADE_AGREED},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", UPGRADE_DECLINED},
        {"HTTP/1.1 100 C\r\n\r\r\n\r\nHTTP/1.1 101 S\r\n", UPGRADE_AGREED},
        {"HTTP/1.1 103 Early\r\nLink: HTTP/1.1 101\r\n", UPGRADE_PENDING},
        {"HTTP/1.1 200 OK\r\n", UPGRADE_DECLINED},
        {"HTTP/1.1 10", UPGRADE_PENDING},
        {"HTTP/1.1 1x1 \r\n", UPGRADE_DECLINED},
        {"HTTP/1.0 101 S\r\n", UPGRADE_DECLINED},
        {"\r\nHTTP/1.1 101 S\r\n", UPGRADE_DECLINED},
        {"rubbish", UPGRADE_DECLINED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece <= strlen(cases[i].text); piece++)
            if (verdict(cases[i].text, piece) != cases[i].verdict)
                fail_msg("in pieces of %zu: %s", piece, cases[i].text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_request_is_all_that_passes),
        cmocka_unit_test(all_passes_once_the_upgrade_is_agreed_to),
        cmocka_unit_test(nothing_more_passes_once_the_upgrade_is_declined),
        cmocka_unit_test(the_status_decides_in_whatever_pieces_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
