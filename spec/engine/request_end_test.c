/* request_end_test.c - where the first request on a connection ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../support/guarded.h"
#include "request_end.h"

/* How many bytes of text belong to the request, fed in pieces of `piece` bytes. */
static size_t feed(const struct route *route, const char *text, size_t piece) {
    struct request_end end;
    request_end_init(&end, route);
    size_t total = strlen(text), used = 0;
    for (size_t at = 0; at < total; at += piece) {
        size_t length = total - at < piece ? total - at : piece;
        size_t taken = request_end_feed(&end, guarded(text + at, length), length);
        assert_true(taken <= length);
        used += taken;
        if (taken < length) {
            /* Once over, it stays over. */
            assert_int_equal(request_end_feed(&end, guarded("x", 1), 1), 0);
            break;
        }
    }
    return used;
}

static void assert_end(const struct route *route, const char *body, const char *rest) {
    char text[1024];
    snprintf(text, sizeof text, "%s%s", body, rest);
    for (size_t piece = 1; piece <= strlen(text) + 1; piece++)
        if (feed(route, text, piece) != strlen(body))
            fail_msg("in pieces of %zu: %zu bytes instead of %zu of: %s", piece,
                     feed(route, text, piece), strlen(body), text);
}

static void counted_bodies_end_at_their_length(void **state) {
    (void)state;
    assert_end(&(struct route){.content_length = 0}, "", "GET / HTTP/1.1\r\n\r\n");
    assert_end(&(struct route){.content_length = 5}, "hello", "GET / HTTP/1.1\r\n\r\n");
    assert_end(&(struct route){.content_length = 50}, "not all of it yet", "");
}

static void chunked_bodies_end_at_the_last_chunk(void **state) {
    (void)state;
    const struct route chunked = {.chunked = true};
    assert_end(&chunked, "5\r\nhello\r\n0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n");
    assert_end(&chunked, "0\r\n\r\n", "GET");
    assert_end(&chunked, "a;name=\"value\"\r\n0\r\n\r\n6789a\r\n0\r\n\r\n", "GET");
    assert_end(&chunked, "00A\r\n0123456789\r\n000\r\nTrailer: x\r\nAnother: y\r\n\r\n", "GET");
    assert_end(&chunked, "5\r\nhel", "");
}

static void broken_chunks_end_the_request(void **state) {
    (void)state;
    const struct route chunked = {.chunked = true};
    /* The byte that breaks it is the last that passes. */
    assert_end(&chunked, "x", "GET");
    assert_end(&chunked, "\r", "\nGET");
    assert_end(&chunked, "1\r\nxG", "ET / HTTP/1.1");
    assert_end(&chunked, "1\r\nx\r\r", "\nGET");
    assert_end(&chunked, "ffffffffffffffff", "ffff\r\nGET");
    /* Some servers take these, and see where the request ends differently. */
    assert_end(&chunked, "1\n", "x\n0\n\nGET");
    assert_end(&chunked, "0;\n", "\r\nGET");
    assert_end(&chunked, "5\r\nhello\r\n0\r\nA: b\n", "\r\n\r\nGET");
    assert_end(&chunked, "0\r\n\rG", "ET / HTTP/1.1");
}

/* libmicrohttpd takes the first of these lines for the empty one, and what follows for a request.
 */
static void a_nul_in_a_trailer_ends_the_request(void **state) {
    (void)state;
    static const char body[] = "0\r\n\0X\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n";
    for (size_t piece = 1; piece <= sizeof body; piece++) {
        struct request_end end;
        size_t used = 0, taken = piece;
        request_end_init(&end, &(struct route){.chunked = true});
        while (used < sizeof body - 1 && taken == piece) {
            size_t left = sizeof body - 1 - used;
            taken = request_end_feed(&end, guarded(body + used, left < piece ? left : piece),
                                     left < piece ? left : piece);
            used += taken;
        }
        assert_int_equal(used, 4); /* up to the NUL */
    }
}

static void endless_lines_end_the_request(void **state) {
    (void)state;
    struct request_end end;
    request_end_init(&end, &(struct route){.chunked = true});
    char spaces[8192];
    memset(spaces, ' ', sizeof spaces);
    assert_int_equal(request_end_feed(&end, "1", 1), 1);
    assert_true(request_end_feed(&end, guarded(spaces, sizeof spaces), sizeof spaces) <
                sizeof spaces);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_bodies_end_at_their_length),
        cmocka_unit_test(chunked_bodies_end_at_the_last_chunk),
        cmocka_unit_test(broken_chunks_end_the_request),
        cmocka_unit_test(a_nul_in_a_trailer_ends_the_request),
        cmocka_unit_test(endless_lines_end_the_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
