/* forward_head_test.c - heads of requests to 127.0.0.1 become heads for a sandbox's port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "forward_head.h"
#include "guarded.h"

static const struct sbi_forward_rules own = {"8000-i1.e2b.app", "", ""};
static const struct sbi_forward_rules shared = {"box.test:3000", "/base", "E2b-Sandbox-Id: i1\r\n"};

struct rewritten {
    enum sbi_forward_head_result result;
    char text[4096];
    size_t used;
    bool upgrade;
};

static struct rewritten rewrite(const struct sbi_forward_rules *rules, const char *bytes,
                                size_t length) {
    struct rewritten made = {0};
    struct sbi_buffer out;
    sbi_buffer_init(&out, 4 * SBI_FORWARD_HEAD_MAX);
    struct guarded bounded = guarded_new(bytes, length);
    made.result =
        sbi_forward_head_rewrite(bounded.bytes, length, rules, &out, &made.used, &made.upgrade);
    guarded_free(&bounded);
    snprintf(made.text, sizeof made.text, "%s", sbi_buffer_string(&out));
    sbi_buffer_free(&out);
    return made;
}

static void assert_becomes(const struct sbi_forward_rules *rules, const char *head,
                           const char *wanted) {
    char with_body[1024];
    int length = snprintf(with_body, sizeof with_body, "%s{body}", head);
    struct rewritten made = rewrite(rules, with_body, (size_t)length);
    assert_int_equal(made.result, SBI_FORWARD_HEAD_DONE);
    assert_int_equal(made.used, strlen(head));
    assert_string_equal(made.text, wanted);
}

static void the_host_is_replaced_and_the_connection_closed(void **state) {
    (void)state;
    assert_becomes(&own,
                   "GET /a?b=c HTTP/1.1\r\nhost: 127.0.0.1:80\r\nAccept: */*\r\n"
                   "Connection: keep-alive\r\nKeep-Alive: 5\r\nX-Mine: a: b \r\n\r\n",
                   "GET /a?b=c HTTP/1.1\r\nHost: 8000-i1.e2b.app\r\nAccept: */*\r\n"
                   "X-Mine: a: b \r\nConnection: close\r\n\r\n");
    assert_becomes(&own, "POST / HTTP/1.0\r\n\r\n",
                   "POST / HTTP/1.0\r\nHost: 8000-i1.e2b.app\r\nConnection: close\r\n\r\n");
    assert_becomes(&own, "OPTIONS * HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
                   "OPTIONS * HTTP/1.1\r\nHost: 8000-i1.e2b.app\r\nConnection: close\r\n\r\n");
}

static void a_shared_address_is_told_the_sandbox(void **state) {
    (void)state;
    assert_becomes(&shared,
                   "GET /a HTTP/1.1\r\nE2B-SANDBOX-ID: other\r\ne2b-sandbox-port: 1\r\n"
                   "E2B-Traffic-Access-Token: x\r\n\r\n",
                   "GET /base/a HTTP/1.1\r\nHost: box.test:3000\r\nE2b-Sandbox-Id: i1\r\n"
                   "Connection: close\r\n\r\n");
    assert_becomes(&shared, "GET http://127.0.0.1:8000/a?http://x HTTP/1.1\r\n\r\n",
                   "GET /base/a?http://x HTTP/1.1\r\nHost: box.test:3000\r\n"
                   "E2b-Sandbox-Id: i1\r\nConnection: close\r\n\r\n");
    assert_becomes(&shared, "GET http://127.0.0.1:8000 HTTP/1.1\r\n\r\n",
                   "GET /base/ HTTP/1.1\r\nHost: box.test:3000\r\nE2b-Sandbox-Id: i1\r\n"
                   "Connection: close\r\n\r\n");
}

static void an_upgrade_stays_one(void **state) {
    (void)state;
    static const char head[] = "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\n"
                               "Upgrade: websocket\r\n\r\n";
    struct rewritten made = rewrite(&own, head, sizeof head - 1);
    assert_true(made.upgrade);
    assert_string_equal(made.text, "GET /ws HTTP/1.1\r\nHost: 8000-i1.e2b.app\r\n"
                                   "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n");
    static const char half[] = "GET /ws HTTP/1.1\r\nUpgrade: h2c\r\n\r\n";
    made = rewrite(&own, half, sizeof half - 1);
    assert_false(made.upgrade);
    assert_string_equal(made.text, "GET /ws HTTP/1.1\r\nHost: 8000-i1.e2b.app\r\n"
                                   "Connection: close\r\n\r\n");
}

static void a_head_may_come_in_any_pieces(void **state) {
    (void)state;
    static const char head[] = "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\n";
    for (size_t length = 0; length < sizeof head - 1; length++) {
        assert_int_equal(rewrite(&own, head, length).result, SBI_FORWARD_HEAD_MORE);
    }
    assert_int_equal(rewrite(&own, head, sizeof head - 1).result, SBI_FORWARD_HEAD_DONE);
}

static void what_is_no_request_is_refused(void **state) {
    (void)state;
    static const char *const heads[] = {
        "\r\n\r\n",
        "hello\r\n\r\n",
        "GET /\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n",
        " / HTTP/1.1\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n",
        "GET /a b HTTP/1.1\r\n\r\n",
        "GET /\x01 HTTP/1.1\r\n\r\n",
        "G\xc3\xa9T / HTTP/1.1\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\n: empty\r\n\r\n",
        "GET / HTTP/1.1\r\nA : b\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\nHost: c\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\rHost: c\r\n\r\n",
        "GET / HTTP/1.1\n\n",
        "GET / HTTP/1.1\nHost: x\n\nmore",
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (rewrite(&own, heads[i], strlen(heads[i])).result != SBI_FORWARD_HEAD_BAD) {
            fail_msg("taken: %s", heads[i]);
        }
    }
    static const char with_nul[] = "GET / HTTP/1.1\r\nA: b\0c\r\n\r\n";
    assert_int_equal(rewrite(&own, with_nul, sizeof with_nul - 1).result, SBI_FORWARD_HEAD_BAD);
}

static void rubbish_does_no_harm(void **state) {
    (void)state;
    static const char alphabet[] = "GET /:\r\n\r\n\r\nHTTP/1.1 ,\t\0\xff";
    unsigned int seed = 1;
    char bytes[200];
    for (int i = 0; i < 20000; i++) {
        size_t length = (size_t)rand_r(&seed) % sizeof bytes;
        for (size_t k = 0; k < length; k++) {
            bytes[k] = alphabet[(size_t)rand_r(&seed) % (sizeof alphabet - 1)];
        }
        size_t start = i % 2 ? (size_t)snprintf(bytes, 20, "GET / HTTP/1.1\r\n") : 0;
        struct rewritten made = rewrite(&shared, bytes, length < start ? start : length);
        if (made.result == SBI_FORWARD_HEAD_DONE) {
            assert_true(strstr(made.text, "\r\nHost: box.test:3000\r\n") != NULL);
        }
    }
}

static void a_head_has_a_bound(void **state) {
    (void)state;
    char *bytes = malloc(SBI_FORWARD_HEAD_MAX + 1);
    size_t start = (size_t)sprintf(bytes, "GET / HTTP/1.1\r\nA: ");
    memset(bytes + start, 'x', SBI_FORWARD_HEAD_MAX + 1 - start);
    struct sbi_buffer out;
    size_t used;
    bool upgrade;
    sbi_buffer_init(&out, 4 * SBI_FORWARD_HEAD_MAX);
    assert_int_equal(
        sbi_forward_head_rewrite(bytes, SBI_FORWARD_HEAD_MAX, &own, &out, &used, &upgrade),
        SBI_FORWARD_HEAD_MORE);
    assert_int_equal(
        sbi_forward_head_rewrite(bytes, SBI_FORWARD_HEAD_MAX + 1, &own, &out, &used, &upgrade),
        SBI_FORWARD_HEAD_BAD);
    memcpy(bytes + SBI_FORWARD_HEAD_MAX - 4, "\r\n\r\n", 4);
    assert_int_equal(
        sbi_forward_head_rewrite(bytes, SBI_FORWARD_HEAD_MAX + 1, &own, &out, &used, &upgrade),
        SBI_FORWARD_HEAD_DONE);
    sbi_buffer_free(&out);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_replaced_and_the_connection_closed),
        cmocka_unit_test(a_shared_address_is_told_the_sandbox),
        cmocka_unit_test(an_upgrade_stays_one),
        cmocka_unit_test(a_head_may_come_in_any_pieces),
        cmocka_unit_test(what_is_no_request_is_refused),
        cmocka_unit_test(rubbish_does_no_harm),
        cmocka_unit_test(a_head_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
