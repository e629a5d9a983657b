/* init_exchange_test.c - what the agent of a new sandbox answers to the engine's first request. */
#include "init_exchange.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int calls, last_status;

static void on_done(int status, void *user) {
    assert_ptr_equal(user, &calls);
    calls++;
    last_status = status;
}

/* The status that is told of an answer, in pieces of `size` bytes, behind which the connection
 * ends.
 */
static int status_of(const char *answer, size_t size) {
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    char request[512] = "";
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    calls = 0;
    assert_non_null(init_exchange_start(loop, ends[1], "{\"a\":1}", 7, on_done, &calls));
    ev_run(loop, EVRUN_ONCE);
    assert_true(recv(ends[0], request, sizeof request - 1, 0) > 0);
    assert_non_null(strstr(request, "POST /init HTTP/1.1\r\n"));
    assert_non_null(strstr(request, "\r\n\r\n{\"a\":1}"));
    for (size_t at = 0, length = strlen(answer); at < length && !calls; at += size) {
        size_t piece = length - at < size ? length - at : size;
        assert_int_equal(send(ends[0], answer + at, piece, MSG_NOSIGNAL), piece);
        ev_run(loop, EVRUN_ONCE);
    }
    shutdown(ends[0], SHUT_WR);
    while (!calls)
        ev_run(loop, EVRUN_ONCE);
    close(ends[0]);
    assert_int_equal(calls, 1);
    return last_status;
}

static void the_status_is_told(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 5, 1000};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(status_of("HTTP/1.1 204 No Content\r\n\r\n", sizes[i]), 204);
        assert_int_equal(status_of("HTTP/1.0 400 Bad Request\r\n", sizes[i]), 400);
    }
}

static void what_is_no_status_is_none(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "HTTP/1.1 204",
        "HTTP/1.1 -12 x\r\n",
        "HTTP/1.1 +20 x\r\n",
        "HTTP/1.1  20 x\r\n",
        "HTTP/1.1 099 x\r\n",
        "HTTP/1.1 2040 x\r\n",
        "HTTP/1.2 204 x\r\n",
        "HTTP/2 204\r\n",
        "204 No Content\r\n",
        "a line that is longer than all that is looked at, and has no end at all................",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(status_of(bad[i], 1000), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_is_told),
        cmocka_unit_test(what_is_no_status_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
