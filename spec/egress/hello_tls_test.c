/* hello_tls_test.c - ClientHellos in pieces, and with wrong bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../support/guarded.h"
#include "hello.h"

typedef hello_result reader(const uint8_t *bytes, size_t length, char name[HELLO_NAME_MAX]);

static hello_result read_with(reader *read, const void *bytes, size_t length, char *name) {
    return read((const uint8_t *)guarded(bytes, length), length, name);
}

/* A ClientHello for the host in records of so many bytes. Returns its length. */
static size_t client_hello(const char *host, size_t piece, uint8_t *out) {
    uint8_t body[1024] = {3, 3};
    size_t host_length = strlen(host), used = 34;
    static const uint8_t rest[] = {0, 0, 2, 0x13, 1, 1, 0};
    memcpy(body + used, rest, sizeof rest); /* session, ciphers, compression */
    used += sizeof rest;
    size_t at = used;
    used += 2;
    static const uint8_t other[] = {0, 10, 0, 4, 0, 2, 0, 29}; /* groups come first */
    memcpy(body + used, other, sizeof other);
    used += sizeof other;
    const uint8_t sni[] = {0,
                           0,
                           0,
                           (uint8_t)(host_length + 5),
                           0,
                           (uint8_t)(host_length + 3),
                           0,
                           0,
                           (uint8_t)host_length};
    memcpy(body + used, sni, sizeof sni);
    used += sizeof sni;
    memcpy(body + used, host, host_length);
    used += host_length;
    body[at] = (uint8_t)((used - at - 2) >> 8);
    body[at + 1] = (uint8_t)(used - at - 2);
    uint8_t message[1100] = {1, 0, (uint8_t)(used >> 8), (uint8_t)used};
    memcpy(message + 4, body, used);
    size_t length = 0;
    for (size_t sent = 0; sent < used + 4; sent += piece) {
        size_t here = used + 4 - sent < piece ? used + 4 - sent : piece;
        const uint8_t head[] = {22, 3, 1, (uint8_t)(here >> 8), (uint8_t)here};
        memcpy(out + length, head, sizeof head);
        memcpy(out + length + 5, message + sent, here);
        length += here + 5;
    }
    return length;
}

static void reads_the_server_name(void **state) {
    (void)state;
    uint8_t hello[4096];
    char name[HELLO_NAME_MAX];
    static const size_t pieces[] = {1000, 40, 7, 1};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t length = client_hello("WWW.Example.com.", pieces[i], hello);
        assert_int_equal(read_with(hello_tls, hello, length, name), HELLO_DONE);
        assert_string_equal(name, "www.example.com");
        for (size_t part = 0; part < length; part++)
            assert_int_equal(read_with(hello_tls, hello, part, name), HELLO_MORE);
    }
}

static void refuses_what_is_no_name(void **state) {
    (void)state;
    static const char *const bad[] = {"",         ".",          "a..b", ".a",
                                      "10.9.9.9", "2130706433", "a b",  "a\tb",
                                      "[::1]",    "a/b",        "a:80", "\xc3\xa4.example"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t hello[4096];
        char name[HELLO_NAME_MAX];
        size_t length = client_hello(bad[i], 1000, hello);
        assert_int_equal(read_with(hello_tls, hello, length, name), HELLO_BAD);
    }
}

static void survives_every_wrong_byte(void **state) {
    (void)state;
    uint8_t hello[4096];
    char name[HELLO_NAME_MAX];
    size_t length = client_hello("example.com", 1000, hello);
    for (size_t i = 0; i < length; i++) {
        for (int value = 0; value < 256; value += 5) {
            uint8_t before = hello[i];
            hello[i] = (uint8_t)value;
            hello_result result = read_with(hello_tls, hello, length, name);
            if (result == HELLO_DONE)
                assert_true(strlen(name) > 0 && strlen(name) < HELLO_NAME_MAX);
            hello[i] = before;
        }
    }
}

static void gives_up_on_what_never_ends(void **state) {
    (void)state;
    static uint8_t bytes[HELLO_MAX];
    char name[HELLO_NAME_MAX];
    memset(bytes, 'a', sizeof bytes);
    assert_int_equal(read_with(hello_http, bytes, sizeof bytes, name), HELLO_BAD);
    assert_int_equal(read_with(hello_http, bytes, sizeof bytes - 1, name), HELLO_MORE);
    assert_int_equal(read_with(hello_tls, bytes, sizeof bytes, name), HELLO_BAD);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_server_name),
        cmocka_unit_test(refuses_what_is_no_name),
        cmocka_unit_test(survives_every_wrong_byte),
        cmocka_unit_test(gives_up_on_what_never_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
