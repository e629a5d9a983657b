/* pump_test.c - bytes between a client and a target: all of them, in order, with bounded memory,
 * and their ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ev.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pump.h"

/* A pump between two pairs: what a client and a target hold are the far ends. */
struct setup {
    struct ev_loop *loop;
    struct pump *pump;
    int client, target;
    bool done, silent;
    int given_back; /* the client's connection, or -1 */
};

static void on_done(int client_fd, bool silent, void *user) {
    struct setup *s = user;
    assert_false(s->done);
    s->done = true;
    s->silent = silent;
    s->given_back = client_fd;
    s->pump = NULL;
}

static void make_pair(int ends[2]) {
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
}

static void start(struct setup *s, const char *first, const struct request_end *limit,
                  size_t head_length) {
    int client[2], target[2];
    make_pair(client);
    make_pair(target);
    *s = (struct setup){
        .loop = ev_default_loop(0), .client = client[0], .target = target[0], .given_back = -1};
    s->pump = pump_start(&(pump_config){.loop = s->loop,
                                        .client_fd = client[1],
                                        .target_fd = target[1],
                                        .first = first,
                                        .first_length = strlen(first),
                                        .head_length = head_length,
                                        .limit = limit,
                                        .done = on_done,
                                        .user = s});
    assert_non_null(s->pump);
}

static void turn(struct setup *s) {
    for (int i = 0; i < 8 && !s->done; i++)
        ev_run(s->loop, EVRUN_NOWAIT);
}

static void finish(struct setup *s) {
    if (s->pump)
        pump_stop(s->pump);
    if (s->given_back >= 0)
        close(s->given_back);
    if (s->client >= 0)
        close(s->client);
    if (s->target >= 0)
        close(s->target);
}

static void say(int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* What waits on fd is exactly this; NULL: the end. */
static void assert_hears(int fd, const char *text) {
    char buffer[1024];
    ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    assert_int_equal(got, text ? strlen(text) : 0);
    if (text)
        assert_memory_equal(buffer, text, strlen(text));
}

static void assert_hears_nothing(int fd) {
    char byte;
    assert_int_equal(recv(fd, &byte, 1, 0), -1);
}

static void bytes_go_both_ways(void **state) {
    (void)state;
    struct setup s;
    start(&s, "first", NULL, 0);
    say(s.client, " second");
    turn(&s);
    assert_hears(s.target, "first second");
    say(s.target, "answer");
    turn(&s);
    assert_hears(s.client, "answer");
    assert_false(s.done);
    finish(&s);
}

/* The byte at a place of the test's stream. */
static char byte_at(size_t at) {
    return (char)(at * 31 + (at >> 8) * 7 + (at >> 16));
}

static size_t write_stream(int fd, size_t from, size_t to) {
    char piece[10000];
    while (from < to) {
        size_t length = to - from < sizeof piece ? to - from : sizeof piece;
        for (size_t i = 0; i < length; i++)
            piece[i] = byte_at(from + i);
        ssize_t sent = send(fd, piece, length, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        from += (size_t)sent;
    }
    return from;
}

static size_t read_stream(int fd, size_t from) {
    char piece[7777];
    ssize_t got;
    while ((got = recv(fd, piece, sizeof piece, 0)) > 0)
        for (ssize_t i = 0; i < got; i++, from++)
            if (piece[i] != byte_at(from))
                fail_msg("byte %zu is wrong", from);
    return from;
}

static void a_reader_that_waits_stops_the_writer_and_loses_nothing(void **state) {
    (void)state;
    const size_t total = 8 * 1024 * 1024;
    for (int direction = 0; direction < 2; direction++) {
        struct setup s;
        start(&s, "", NULL, 0);
        int from = direction ? s.target : s.client, to = direction ? s.client : s.target;
        size_t written = 0, before;
        do {
            before = written;
            written = write_stream(from, written, total);
            turn(&s);
        } while (written > before);
        /* What the sockets hold, and a buffer; not the stream. */
        assert_true(written < 2 * 1024 * 1024);
        size_t seen = 0;
        while (seen < total) {
            seen = read_stream(to, seen);
            written = write_stream(from, written, total);
            turn(&s);
        }
        assert_int_equal(seen, total);
        finish(&s);
    }
}

static void the_end_of_a_request_is_passed_on_and_the_answer_still_comes(void **state) {
    (void)state;
    struct setup s;
    start(&s, "request", NULL, 0);
    shutdown(s.client, SHUT_WR);
    turn(&s);
    assert_hears(s.target, "request");
    assert_hears(s.target, NULL);
    say(s.target, "answer");
    turn(&s);
    assert_hears(s.client, "answer");
    assert_false(s.done);
    finish(&s);
}

static void a_client_that_goes_takes_the_target_s_connection_along(void **state) {
    (void)state;
    struct setup s;
    start(&s, "request", NULL, 0);
    turn(&s);
    assert_hears(s.target, "request");
    close(s.client);
    s.client = -1;
    turn(&s);
    assert_true(s.done);
    assert_int_equal(s.given_back, -1);
    assert_hears(s.target, NULL);
    assert_int_equal(send(s.target, "x", 1, MSG_NOSIGNAL), -1);
    finish(&s);
}

static void a_target_s_end_gives_the_client_back_when_all_is_delivered(void **state) {
    (void)state;
    struct setup s;
    start(&s, "", NULL, 0);
    size_t written = write_stream(s.target, 0, 200000), seen = 0;
    turn(&s);
    written = write_stream(s.target, written, 400000);
    close(s.target);
    s.target = -1;
    for (int i = 0; i < 1000 && !s.done; i++) {
        turn(&s);
        seen = read_stream(s.client, seen);
    }
    assert_true(s.done);
    assert_false(s.silent);
    seen = read_stream(s.client, seen);
    assert_int_equal(seen, written);
    assert_true(s.given_back >= 0);
    say(s.given_back, "bye");
    assert_hears(s.client, "bye");
    finish(&s);
}

static void a_target_that_says_nothing_is_told_apart(void **state) {
    (void)state;
    struct setup s;
    start(&s, "request that is never read", NULL, 0);
    turn(&s);
    close(s.target);
    s.target = -1;
    turn(&s);
    assert_true(s.done);
    assert_true(s.silent);
    assert_true(s.given_back >= 0);
    finish(&s);
}

static void a_target_that_answers_early_is_still_heard(void **state) {
    (void)state;
    struct setup s;
    start(&s, "", NULL, 0);
    say(s.target, "too large");
    shutdown(s.target, SHUT_RD);
    for (int i = 0; i < 50; i++) {
        say(s.client, "more and more of the body");
        turn(&s);
    }
    assert_hears(s.client, "too large");
    shutdown(s.target, SHUT_WR);
    turn(&s);
    assert_true(s.done);
    assert_true(s.given_back >= 0);
    finish(&s);
}

static void only_the_first_request_passes_a_limit(void **state) {
    (void)state;
    static const char head[] = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n";
    char first[128];
    struct request_end limit;
    request_end_init(&limit, &(struct route){.content_length = 5});
    for (int split = 0; split < 2; split++) {
        struct setup s;
        snprintf(first, sizeof first, "%s%s", head, split ? "he" : "helloGET");
        start(&s, first, &limit, sizeof head - 1);
        say(s.client, split ? "lloGET /secret" : " /secret");
        turn(&s);
        char expected[128];
        snprintf(expected, sizeof expected, "%shello", head);
        assert_hears(s.target, expected);
        say(s.client, " HTTP/1.1\r\nX-API-Key: key\r\n\r\n");
        turn(&s);
        assert_hears_nothing(s.target);
        say(s.target, "answer");
        turn(&s);
        assert_hears(s.client, "answer");
        finish(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_both_ways),
        cmocka_unit_test(a_reader_that_waits_stops_the_writer_and_loses_nothing),
        cmocka_unit_test(the_end_of_a_request_is_passed_on_and_the_answer_still_comes),
        cmocka_unit_test(a_client_that_goes_takes_the_target_s_connection_along),
        cmocka_unit_test(a_target_s_end_gives_the_client_back_when_all_is_delivered),
        cmocka_unit_test(a_target_that_says_nothing_is_told_apart),
        cmocka_unit_test(a_target_that_answers_early_is_still_heard),
        cmocka_unit_test(only_the_first_request_passes_a_limit),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ev_loop_destroy(EV_DEFAULT);
    return failed;
}
