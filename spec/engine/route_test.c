/* route_test.c - which requests go where, and which go nowhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../support/guarded.h"
#include "route.h"

#define ID "i0123456789abcdefghi"

/* Parses a whole head, at the end of readable memory. */
static enum route_result parse_bytes(const char *bytes, size_t length, struct route *route) {
    size_t scanned = 0;
    return route_parse(guarded(bytes, length), length, &scanned, route);
}

static struct route parse(const char *head) {
    struct route route = {0};
    assert_int_equal(parse_bytes(head, strlen(head), &route), ROUTE_DONE);
    assert_int_equal(route.head_length, strlen(head));
    return route;
}

static void assert_bad(const char *head) {
    struct route route = {0};
    if (parse_bytes(head, strlen(head), &route) != ROUTE_BAD)
        fail_msg("taken for good: %s", head);
    assert_non_null(route.bad);
}

static void plain_requests_go_to_the_control_plane(void **state) {
    (void)state;
    struct route route = parse("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_false(route.to_sandbox);
    assert_int_equal(route.content_length, 0);
    route =
        parse("POST /v2/sandboxes HTTP/1.1\r\nHost: 127.0.0.1:3000\r\nContent-Length: 12\r\n\r\n");
    assert_false(route.to_sandbox);
    assert_int_equal(route.content_length, 12);
    assert_false(parse("GET / HTTP/1.0\r\n\r\n").to_sandbox);
}

static void headers_name_a_sandbox_in_any_case(void **state) {
    (void)state;
    struct route route = parse("POST /x HTTP/1.1\r\nHost: a\r\ne2B-sANDBOX-iD: \t" ID
                               " \r\nE2B-SANDBOX-PORT:49999\r\n"
                               "Transfer-Encoding: Chunked\r\n\r\n");
    assert_true(route.to_sandbox);
    assert_true(route.by_header);
    assert_true(route.chunked);
    assert_string_equal(route.id, ID);
    assert_int_equal(route.port, 49999);
    route = parse("GET /health HTTP/1.1\r\nE2b-Sandbox-Id: " ID "\r\n\r\n");
    assert_int_equal(route.port, 49983);
}

static void host_names_name_a_sandbox(void **state) {
    (void)state;
    struct route route = parse("GET / HTTP/1.1\r\nHost: 49999-" ID ".example.org:3000\r\n\r\n");
    assert_true(route.to_sandbox);
    assert_false(route.by_header);
    assert_string_equal(route.id, ID);
    assert_int_equal(route.port, 49999);
    /* Names of hosts have no case. */
    route = parse("GET / HTTP/1.1\r\nHost: 1-I0123456789ABCDEFGHI.x\r\n\r\n");
    assert_string_equal(route.id, ID);
    static const char *const others[] = {"49999-" ID,
                                         "-" ID ".x",
                                         "0-" ID ".x",
                                         "65536-" ID ".x",
                                         "x-" ID ".x",
                                         "3-api.x",
                                         "49999-abc_defghijkl.x",
                                         "a.b.c",
                                         "49999.x",
                                         "[::1]:3000",
                                         ".x",
                                         "127.0.0.1"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char head[256];
        snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", others[i]);
        if (parse(head).to_sandbox)
            fail_msg("%s taken for a sandbox", others[i]);
    }
}

static void the_header_wins_over_the_host(void **state) {
    (void)state;
    struct route route =
        parse("GET / HTTP/1.1\r\nHost: 49999-" ID ".x\r\nE2b-Sandbox-Id: iother\r\n\r\n");
    assert_string_equal(route.id, "iother");
    assert_int_equal(route.port, 49983);
    assert_true(route.by_header);
}

static void a_body_behind_the_head_is_left_alone(void **state) {
    (void)state;
    static const char bytes[] = "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\r\n\r\n";
    struct route route;
    assert_int_equal(parse_bytes(bytes, sizeof bytes - 1, &route), ROUTE_DONE);
    assert_int_equal(route.head_length, sizeof bytes - 1 - 4);
}

static void malformed_heads_are_bad(void **state) {
    (void)state;
    static const char *const heads[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n",
        " / HTTP/1.1\r\n\r\n",
        "G(T / HTTP/1.1\r\n\r\n",
        "GET /a b HTTP/1.1\r\n\r\n",
        "GET /\x01 HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.x\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\tfolded\r\n\r\n",
        "GET / HTTP/1.1\r\nnocolon\r\n\r\n",
        "GET / HTTP/1.1\r\n: value\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET / HTTP/1.1\r\nX: a\x7f\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nE2b-Sandbox-Id: ia\r\nE2B-SANDBOX-ID: ia\r\n\r\n",
        "GET / HTTP/1.1\r\nE2b-Sandbox-Id: ia\r\nE2b-Sandbox-Port: 1\r\nE2b-Sandbox-Port: "
        "1\r\n\r\n",
        "GET / HTTP/1.1\r\nE2b-Sandbox-Id:\r\n\r\n",
        "GET / HTTP/1.1\r\nE2b-Sandbox-Id: a/b\r\n\r\n",
        "GET / HTTP/1.1\r\nE2b-Sandbox-Id: "
        "0123456789012345678901234567890123456789012345678901234567890123456789\r\n\r\n",
        "GET / HTTP/1.1\r\nE2b-Sandbox-Id: ia\r\nE2b-Sandbox-Port: 0\r\n\r\n",
        "GET / HTTP/1.1\r\nE2b-Sandbox-Id: ia\r\nE2b-Sandbox-Port: 65536\r\n\r\n",
        "GET / HTTP/1.1\r\nE2b-Sandbox-Id: ia\r\nE2b-Sandbox-Port: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nE2b-Sandbox-Id: ia\r\nE2b-Sandbox-Port: 99999999999999999999\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        assert_bad(heads[i]);
    static const char nul[] = "GET / HTTP/1.1\r\nX: a\0b\r\n\r\n";
    struct route route;
    assert_int_equal(parse_bytes(nul, sizeof nul - 1, &route), ROUTE_BAD);
}

static void every_prefix_asks_for_more_and_every_split_agrees(void **state) {
    (void)state;
    static const char head[] =
        "POST /p HTTP/1.1\r\nHost: h\r\nE2b-Sandbox-Id: " ID "\r\nX: \r\r\n\r\n";
    static const char good[] =
        "POST /p HTTP/1.1\r\nHost: h\r\nE2b-Sandbox-Id: " ID "\r\nX: \r\n\r\n";
    const size_t length = sizeof good - 1;
    struct route route;
    for (size_t i = 0; i < length; i++)
        assert_int_equal(parse_bytes(good, i, &route), ROUTE_MORE);
    for (size_t split = 0; split < length; split++) {
        size_t scanned = 0;
        assert_int_equal(route_parse(guarded(good, split), split, &scanned, &route), ROUTE_MORE);
        assert_int_equal(route_parse(guarded(good, length), length, &scanned, &route), ROUTE_DONE);
        assert_string_equal(route.id, ID);
        assert_int_equal(route.head_length, length);
    }
    /* One byte at a time. */
    size_t scanned = 0;
    for (size_t i = 1; i < length; i++)
        assert_int_equal(route_parse(guarded(good, i), i, &scanned, &route), ROUTE_MORE);
    assert_int_equal(route_parse(guarded(good, length), length, &scanned, &route), ROUTE_DONE);
    assert_bad(head);
}

static void random_bytes_are_never_read_past(void **state) {
    (void)state;
    static const char alphabet[] = "\r\n\r\n :-.aZ09GET / HTTP/1.1\r\nHost: e2b-Sandbox-Id\t\x80";
    char bytes[96];
    struct route route;
    srand(20260801);
    for (int round = 0; round < 200000; round++) {
        size_t length = (size_t)rand() % sizeof bytes;
        for (size_t i = 0; i < length; i++)
            bytes[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        parse_bytes(bytes, length, &route);
    }
}

static void connect_asks_for_a_tunnel_to_a_port_of_a_sandbox(void **state) {
    (void)state;
    struct route route =
        parse("CONNECT 8000-" ID ".any.thing:443 HTTP/1.1\r\nHost: x\r\nX-API-Key: a key \r\n\r\n");
    assert_true(route.tunnel);
    assert_true(route.to_sandbox);
    assert_string_equal(route.id, ID);
    assert_int_equal(route.port, 8000);
    assert_int_equal(route.api_key_length, 5);
    /* A header decides over the name, here as elsewhere. */
    route = parse("CONNECT 8000-" ID ".x:1 HTTP/1.1\r\nE2b-Sandbox-Id: other\r\n"
                  "E2b-Sandbox-Port: 9\r\n\r\n");
    assert_true(route.tunnel);
    assert_string_equal(route.id, "other");
    assert_int_equal(route.port, 9);
    assert_null(route.api_key);
    assert_false(parse("GET / HTTP/1.1\r\nHost: 8000-" ID ".x\r\n\r\n").tunnel);
    assert_bad("CONNECT example.org:443 HTTP/1.1\r\n\r\n");
    assert_bad("CONNECT example.org:443 HTTP/1.1\r\nHost: 8000-" ID ".x\r\n\r\n");
    assert_bad("CONNECT 8000-" ID ".x HTTP/1.1\r\n\r\n");
    assert_bad("CONNECT 8000-" ID ".x: HTTP/1.1\r\n\r\n");
    assert_bad("CONNECT 8000-" ID ".x:0 HTTP/1.1\r\n\r\n");
    assert_bad("CONNECT 8000-" ID ".x:65536 HTTP/1.1\r\n\r\n");
    assert_bad("CONNECT 8000-" ID ".x:1 HTTP/1.1\r\nContent-Length: 1\r\n\r\n");
    assert_bad("CONNECT 8000-" ID ".x:1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
}

static void an_upgrade_needs_both_headers(void **state) {
    (void)state;
    static const struct {
        const char *headers;
        bool upgrade;
    } cases[] = {
        {"Connection: Upgrade\r\nUpgrade: websocket\r\n", true},
        {"Upgrade: a\r\nconnection: keep-alive , upgrade\r\nUpgrade: b\r\n", true},
        {"Connection: keep-alive\r\nConnection: UPGRADE\r\nUpgrade: x\r\n", true},
        {"Connection: ,,upgrade,\r\nUpgrade: x\r\n", true},
        {"Upgrade: websocket\r\n", false},
        {"Connection: Upgrade\r\n", false},
        {"Connection: upgrades, not-upgrade\r\nUpgrade: x\r\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char head[256];
        snprintf(head, sizeof head, "GET / HTTP/1.1\r\nE2b-Sandbox-Id: a\r\n%s\r\n",
                 cases[i].headers);
        if (parse(head).upgrade != cases[i].upgrade)
            fail_msg("%s", head);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_requests_go_to_the_control_plane),
        cmocka_unit_test(headers_name_a_sandbox_in_any_case),
        cmocka_unit_test(host_names_name_a_sandbox),
        cmocka_unit_test(the_header_wins_over_the_host),
        cmocka_unit_test(a_body_behind_the_head_is_left_alone),
        cmocka_unit_test(malformed_heads_are_bad),
        cmocka_unit_test(every_prefix_asks_for_more_and_every_split_agrees),
        cmocka_unit_test(random_bytes_are_never_read_past),
        cmocka_unit_test(connect_asks_for_a_tunnel_to_a_port_of_a_sandbox),
        cmocka_unit_test(an_upgrade_needs_both_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
