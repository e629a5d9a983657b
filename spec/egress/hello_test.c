/* hello_test.c - the name in the first bytes of a client, when the client tries to say two. */
#include "hello.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/guarded.h"

static char name[HELLO_NAME_MAX];

static hello_result read_http(const char *text) {
    return hello_http((const uint8_t *)guarded(text, strlen(text)), strlen(text), name);
}

static void the_host_of_a_request_is_its_name(void **state) {
    (void)state;
    assert_int_equal(read_http("GET / HTTP/1.1\r\nA: b\r\nHost: Example.com:80\r\n\r\n"),
                     HELLO_DONE);
    assert_string_equal(name, "example.com");
    assert_int_equal(read_http("GET / HTTP/1.1\r\nHost: a.b\r\n"), HELLO_MORE);
}

static void a_request_that_servers_read_differently_has_none(void **state) {
    (void)state;
    static const char *const bad[] = {
        "GET / HTTP/1.1\r\nHost: a.b\r\nHost: c.d\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.b\r\nHost : c.d\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.b\r\nHost\t: c.d\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\rHost: c.d\r\nHost: a.b\r\n\r\n",
        "GET / HTTP/1.1\rHost: c.d\r\nHost: a.b\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n Host: c.d\r\nHost: a.b\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\nHost: c.d\r\nHost: a.b\r\n\r\n",
        "GET http://c.d/ HTTP/1.1\r\nHost: a.b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_http(bad[i]), HELLO_BAD);
}

/* Appends a number of so many bytes. */
static size_t put(uint8_t *at, size_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (bytes - 1 - i) * 8);
    return bytes;
}

static size_t put_server_name(uint8_t *at, const char *host) {
    size_t length = strlen(host), used = put(at, 0, 2);
    used += put(at + used, length + 5, 2);
    used += put(at + used, length + 3, 2);
    used += put(at + used, 0, 1);
    used += put(at + used, length, 2);
    memcpy(at + used, host, length);
    return used + length;
}

/* A ClientHello with one server name or two, in records of so many bytes. */
static hello_result read_tls(const char *host, const char *second, size_t record) {
    uint8_t hello[512] = {1}, bytes[2048];
    size_t used = 4 + 2 + 32 + 1; /* head, version, random, no session */
    used += put(hello + used, 2, 2) + 2;
    used += put(hello + used, 1, 1) + 1;
    size_t extensions = used;
    used += 2;
    used += put_server_name(hello + used, host);
    if (second)
        used += put_server_name(hello + used, second);
    put(hello + extensions, used - extensions - 2, 2);
    put(hello + 1, used - 4, 3);
    size_t length = 0;
    for (size_t at = 0; at < used; at += record) {
        size_t part = used - at < record ? used - at : record;
        length += put(bytes + length, 0x160301, 3);
        length += put(bytes + length, part, 2);
        memcpy(bytes + length, hello + at, part);
        length += part;
    }
    /* No part of it is enough. */
    for (size_t some = 0; some < length; some++)
        assert_int_equal(hello_tls((const uint8_t *)guarded(bytes, some), some, name), HELLO_MORE);
    return hello_tls((const uint8_t *)guarded(bytes, length), length, name);
}

static void the_server_name_of_a_client_hello_is_its_name(void **state) {
    (void)state;
    static const size_t records[] = {1, 7, 1000};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(read_tls("Example.COM", NULL, records[i]), HELLO_DONE);
        assert_string_equal(name, "example.com");
        assert_int_equal(read_tls("a.b", "c.d", records[i]), HELLO_BAD);
        assert_int_equal(read_tls("10.0.0.1", NULL, records[i]), HELLO_BAD);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_of_a_request_is_its_name),
        cmocka_unit_test(a_request_that_servers_read_differently_has_none),
        cmocka_unit_test(the_server_name_of_a_client_hello_is_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
