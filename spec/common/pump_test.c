/* pump_test.c - bytes between a client and a target: all of them, in order, with bounded memory,
 * and their ends. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ev.h>
#include <netinet/in.h>
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

static void start_with(struct setup *s, const pump_config *config) {
    int client[2], target[2];
    make_pair(client);
    make_pair(target);
    *s = (struct setup){
        .loop = ev_default_loop(0), .client = client[0], .target = target[0], .given_back = -1};
    pump_config all = *config;
    all.loop = s->loop;
    all.client_fd = client[1];
    all.target_fd = target[1];
    all.to_target_length = strlen(config->to_target);
    all.to_client_length = config->to_client ? strlen(config->to_client) : 0;
    all.done = on_done;
    all.user = s;
    s->pump = pump_start(&all);
    assert_non_null(s->pump);
}

static void start(struct setup *s, const char *first) {
    start_with(s, &(pump_config){.to_target = first});
}

static void start_both_ways(struct setup *s) {
    start_with(
        s, &(pump_config){.mode = PUMP_BOTH_ENDED, .target_half_closes = true, .to_target = ""});
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
    start(&s, "first");
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
        start(&s, "");
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
    start(&s, "request");
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
    start(&s, "request");
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
    start(&s, "");
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
    start(&s, "request that is never read");
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
    start(&s, "");
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

static void what_the_client_is_told_first_comes_first(void **state) {
    (void)state;
    struct setup s;
    start_with(&s, &(pump_config){.to_target = "", .to_client = "welcome "});
    say(s.target, "answer");
    turn(&s);
    assert_hears(s.client, "welcome answer");
    finish(&s);
}

/* A gate for tests: five bytes, and then what `rest` says until the target has said "open". */
struct five {
    size_t left;
    enum pump_rest rest;
    bool is_open;
};

static size_t admit_five(void *user, const char *bytes, size_t length, enum pump_rest *rest) {
    (void)bytes;
    struct five *five = user;
    size_t admitted = five->is_open || length < five->left ? length : five->left;
    five->left -= five->is_open ? 0 : admitted;
    *rest = five->rest;
    return admitted;
}

static bool open_five(void *user, const char *bytes, size_t length) {
    struct five *five = user;
    if (length < 4 || memcmp(bytes, "open", 4) != 0)
        five->rest = PUMP_DROP;
    else
        five->is_open = true;
    return true;
}

static const pump_gate gate_of_five = {.admit = admit_five, .answered = open_five};

static void a_gate_drops_what_may_not_pass(void **state) {
    (void)state;
    static const char *const firsts[] = {"head", "headhe", "headhelloGET"};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        struct setup s;
        struct five five = {.left = 5, .rest = PUMP_DROP};
        start_with(&s, &(pump_config){.to_target = firsts[i],
                                      .ungated_length = 4,
                                      .gate = &gate_of_five,
                                      .gate_user = &five});
        say(s.client, i == 0 ? "hello GET" : i == 1 ? "llo GET" : " /secret");
        turn(&s);
        assert_hears(s.target, "headhello");
        say(s.client, " more");
        turn(&s);
        assert_hears_nothing(s.target);
        say(s.target, "answer");
        turn(&s);
        assert_hears(s.client, "answer");
        close(s.client); /* it is still noticed when the client goes */
        s.client = -1;
        turn(&s);
        assert_true(s.done);
        finish(&s);
    }
}

static void a_gate_holds_back_what_may_pass_later(void **state) {
    (void)state;
    for (int is_first = 0; is_first < 2; is_first++) {
        for (int opens = 0; opens < 2; opens++) {
            struct setup s;
            struct five five = {.left = 5, .rest = PUMP_HOLD};
            start_with(&s, &(pump_config){.to_target = is_first ? "hello early" : "",
                                          .gate = &gate_of_five,
                                          .gate_user = &five});
            if (!is_first)
                say(s.client, "hello early");
            turn(&s);
            assert_hears(s.target, "hello");
            say(s.client, " bird");
            turn(&s);
            assert_hears_nothing(s.target);
            say(s.target, opens ? "open" : "shut");
            turn(&s);
            if (opens)
                assert_hears(s.target, " early bird");
            else
                assert_hears_nothing(s.target);
            finish(&s);
        }
    }
}

static void both_streams_end_by_themselves(void **state) {
    (void)state;
    for (int direction = 0; direction < 2; direction++) {
        struct setup s;
        start_both_ways(&s);
        int from = direction ? s.target : s.client, to = direction ? s.client : s.target;
        say(from, "all that I have");
        shutdown(from, SHUT_WR);
        turn(&s);
        assert_hears(to, "all that I have");
        assert_hears(to, NULL);
        for (int i = 0; i < 3; i++) {
            say(to, "more");
            turn(&s);
            assert_hears(from, "more");
        }
        assert_false(s.done);
        shutdown(to, SHUT_WR);
        turn(&s);
        assert_hears(from, NULL);
        assert_true(s.done);
        assert_int_equal(s.given_back, -1);
        finish(&s);
    }
}

/* A connection over TCP, on which a reset can be told from an end. */
static void make_tcp_pair(int ends[2]) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(ends[0], (struct sockaddr *)&address, length), 0);
    ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_true(ends[1] >= 0);
    close(listener);
}

/* A pump with TCP on the client's side, or on the target's. */
static void start_tcp(struct setup *s, bool client_is_tcp) {
    int tcp[2], local[2];
    make_tcp_pair(tcp);
    make_pair(local);
    *s = (struct setup){.loop = ev_default_loop(0), .given_back = -1};
    s->client = client_is_tcp ? tcp[0] : local[0];
    s->target = client_is_tcp ? local[0] : tcp[0];
    s->pump = pump_start(&(pump_config){.loop = s->loop,
                                        .mode = PUMP_BOTH_ENDED,
                                        .target_half_closes = client_is_tcp,
                                        .client_fd = client_is_tcp ? tcp[1] : local[1],
                                        .target_fd = client_is_tcp ? local[1] : tcp[1],
                                        .to_target = "",
                                        .done = on_done,
                                        .user = s});
    assert_non_null(s->pump);
}

static void a_target_that_breaks_off_breaks_the_client_s_connection(void **state) {
    (void)state;
    struct setup s;
    char buffer[16];
    start_tcp(&s, true);
    say(s.target, "half");
    turn(&s);
    assert_hears(s.client, "half");
    close(s.target);
    s.target = -1;
    turn(&s);
    assert_true(s.done);
    assert_int_equal(recv(s.client, buffer, sizeof buffer, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    finish(&s);

    /* A reset by a target over TCP closes a client over a unix socket both ways at once. */
    start_tcp(&s, false);
    struct linger linger = {.l_onoff = 1};
    setsockopt(s.target, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(s.target);
    s.target = -1;
    turn(&s);
    assert_true(s.done);
    assert_hears(s.client, NULL);
    assert_int_equal(send(s.client, "x", 1, MSG_NOSIGNAL), -1);
    finish(&s);
}

static void a_client_that_breaks_off_breaks_the_target_s_connection(void **state) {
    (void)state;
    struct setup s;
    char buffer[64];
    start_tcp(&s, false);
    say(s.target, "an answer that is never read");
    turn(&s);
    close(s.client); /* with unread bytes: a reset */
    s.client = -1;
    turn(&s);
    assert_true(s.done);
    assert_int_equal(recv(s.target, buffer, sizeof buffer, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    finish(&s);

    /* One that read all and just closes ends the target's connection, with what it had sent. */
    start_tcp(&s, false);
    say(s.client, "the last word");
    close(s.client);
    s.client = -1;
    turn(&s);
    assert_true(s.done);
    assert_hears(s.target, "the last word");
    assert_hears(s.target, NULL);
    finish(&s);
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
        cmocka_unit_test(what_the_client_is_told_first_comes_first),
        cmocka_unit_test(a_gate_drops_what_may_not_pass),
        cmocka_unit_test(a_gate_holds_back_what_may_pass_later),
        cmocka_unit_test(both_streams_end_by_themselves),
        cmocka_unit_test(a_target_that_breaks_off_breaks_the_client_s_connection),
        cmocka_unit_test(a_client_that_breaks_off_breaks_the_target_s_connection),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ev_loop_destroy(EV_DEFAULT);
    return failed;
}
