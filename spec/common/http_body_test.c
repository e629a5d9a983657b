/* http_body_test.c - request bodies that are taken piece by piece. */
#include "http_fixture.h"

#include <stdatomic.h>
#include <sys/resource.h>

#define MAX_BODY 1000
#define BIG_TOTAL ((size_t)1024 * 1024 * 1024)

static http_server *server;
static atomic_int handled, gone_calls, data_calls, held;
static atomic_size_t seen; /* bytes that all sinks took */
static _Atomic double gone_at;
static struct sink *latest[2];

/* The server's side. */

struct sink {
    http_request *request;
    struct ev_timer timer;
    size_t limit; /* bytes taken before the client is held back */
    size_t count;
    unsigned sum;
    bool keep_holding, at_once;
    char text[32]; /* the first bytes */
};

static void reply_counts(struct sink *sink) {
    char text[100];
    int length = snprintf(text, sizeof text, "%zu %u %s", sink->count, sink->sum, sink->text);
    http_request *request = sink->request;
    free(sink);
    http_reply(request, 200, "text/plain", text, (size_t)length);
}

static void go_on(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct sink *sink = timer->data;
    held--;
    http_body_resume(sink->request);
}

static size_t take_bytes(void *user, const char *bytes, size_t length) {
    struct sink *sink = user;
    data_calls++;
    if (length > sink->limit) {
        length = sink->limit;
        if (sink->at_once) {
            http_body_resume(sink->request);
        } else if (!sink->keep_holding) {
            ev_timer_set(&sink->timer, 0.001, 0.0);
            ev_timer_start(http_request_loop(sink->request), &sink->timer);
        }
        held += !sink->at_once;
    }
    for (size_t i = 0; i < length; i++) {
        if (sink->count + i < sizeof sink->text - 1)
            sink->text[sink->count + i] = bytes[i];
        sink->sum += (unsigned char)bytes[i];
    }
    sink->count += length;
    seen += length;
    return length;
}

static void finish(void *user) {
    reply_counts(user);
}

static void sink_gone(void *user) {
    struct sink *sink = user;
    gone_at = now();
    gone_calls++;
    ev_timer_stop(http_request_loop(sink->request), &sink->timer);
    reply_counts(sink);
}

static size_t refuse_third(void *user, const char *bytes, size_t length) {
    struct sink *sink = user;
    data_calls++;
    size_t taken = take_bytes(user, bytes, length);
    if (sink->count < 3)
        return taken;
    http_request *request = sink->request;
    free(sink);
    http_reply(request, 507, NULL, "full", 4);
    return 1;
}

static size_t count_only(void *user, const char *bytes, size_t length) {
    (void)bytes;
    ((struct sink *)user)->count += length;
    return length;
}

static void on_head(http_request *request, void *user) {
    (void)user;
    static const http_body plain = {take_bytes, finish}, third = {refuse_third, finish},
                           counting = {count_only, finish};
    const char *path = http_request_path(request);
    if (!strcmp(path, "/whole"))
        return;
    if (!strcmp(path, "/refuse")) {
        http_reply(request, 403, NULL, "no", 2);
        return;
    }
    struct sink *sink = calloc(1, sizeof *sink);
    latest[1] = latest[0];
    latest[0] = sink;
    sink->request = request;
    sink->limit = SIZE_MAX;
    ev_init(&sink->timer, go_on);
    sink->timer.data = sink;
    if (!strcmp(path, "/slow"))
        sink->limit = 700;
    if (!strcmp(path, "/once")) {
        sink->limit = 3;
        sink->at_once = true;
    }
    if (!strcmp(path, "/held")) {
        sink->limit = 0;
        sink->keep_holding = true;
    }
    http_request_on_gone(request, sink_gone, sink);
    http_request_stream_body(request,
                             !strcmp(path, "/third")   ? &third
                             : !strcmp(path, "/count") ? &counting
                                                       : &plain,
                             sink);
}

static void handle(http_request *request, void *user) {
    (void)user;
    handled++;
    size_t length;
    const char *body = http_request_body(request, &length);
    http_reply(request, 200, NULL, body, length);
}

static int set_up(void **state) {
    (void)state;
    handled = gone_calls = data_calls = held = 0;
    seen = 0;
    gone_at = 0;
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    server = http_server_new(loop, handle, NULL, MAX_BODY);
    assert_non_null(server);
    http_server_on_head(server, on_head);
    return fixture_start(loop);
}

static int tear_down(void **state) {
    (void)state;
    fixture_stop();
    http_server_free(server);
    ev_loop_destroy(fixture.loop);
    return 0;
}

/* The client's side. */

static struct client *connect_client(void) {
    return connect_to(server, NULL);
}

static void post(struct client *client, const char *path, const char *headers, const char *body) {
    char text[1000];
    int length =
        snprintf(text, sizeof text, "POST %s HTTP/1.1\r\nHost: h\r\n%s\r\n%s", path, headers, body);
    assert_true(length > 0 && (size_t)length < sizeof text);
    send_text(client, text);
}

static void wait_until_held(void) {
    for (double start = now(); !held; usleep(1000))
        assert_true(now() < start + 5);
}

static void wait_for_gone(double limit) {
    for (double start = now(); gone_at == 0.0; usleep(1000))
        assert_true(now() < start + limit);
    assert_int_equal(gone_calls, 1);
}

/* The tests. */

static void streams_sized_chunked_and_empty_bodies(void **state) {
    (void)state;
    struct client *client = connect_client();
    post(client, "/all", "Content-Length: 5\r\n", "hello");
    expect(client, 200, "5 532 hello");
    /* No extensions of chunks: libmicrohttpd 1.0 refuses them. */
    post(client, "/all", "Transfer-Encoding: chunked\r\n",
         "3\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: t\r\n\r\n");
    expect(client, 200, "4 394 abcd");
    post(client, "/all", "Content-Length: 0\r\n", "");
    expect(client, 200, "0 0 ");
    post(client, "/all", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n");
    expect(client, 200, "0 0 ");
    get(client, "/all");
    expect(client, 200, "0 0 ");
    post(client, "/all", "Expect: 100-continue\r\nContent-Length: 2\r\n", "");
    assert_int_equal(read_answer(client, false).status, 100);
    send_text(client, "ok");
    expect(client, 200, "2 218 ok");
    assert_int_equal(handled, 0);
    disconnect(client);
}

static void leaves_other_requests_to_the_handler(void **state) {
    (void)state;
    struct client *client = connect_client();
    post(client, "/whole", "Content-Length: 5\r\n", "hello");
    expect(client, 200, "hello");
    assert_int_equal(handled, 1);
    post(client, "/whole", "Content-Length: 100000000\r\n", "");
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 413);
    free(answer.body);
    disconnect(client);
}

static void takes_bytes_as_they_come(void **state) {
    (void)state;
    struct client *client = connect_client();
    post(client, "/all", "Content-Length: 5\r\n", "");
    for (size_t i = 0; i < 5; i++) {
        send_text(client, "x");
        for (double start = now(); seen < i + 1; usleep(500))
            assert_true(now() < start + 5);
    }
    expect(client, 200, "5 600 xxxxx");
    assert_int_equal(data_calls, 5);
    disconnect(client);
}

static void holds_a_client_back_for_a_slow_sink(void **state) {
    (void)state;
    struct client *client = connect_client();
    for (int chunked = 0; chunked < 2; chunked++) {
        static char block[100000];
        memset(block, 'b', sizeof block);
        post(client, "/slow",
             chunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: 100000\r\n", "");
        for (size_t at = 0; at < sizeof block; at += 10000) {
            if (chunked)
                send_text(client, "2710\r\n");
            send_bytes(client, block + at, 10000);
            if (chunked)
                send_text(client, "\r\n");
        }
        if (chunked)
            send_text(client, "0\r\n\r\n");
        expect(client, 200, "100000 9800000 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
    }
    assert_int_equal(held, 0);
    /* Resumption from within data(). */
    post(client, "/once", "Content-Length: 11\r\n", "hello world");
    expect(client, 200, "11 1116 hello world");
    disconnect(client);
}

static void reads_little_for_a_sink_that_takes_nothing(void **state) {
    (void)state;
    struct client *client = connect_client();
    post(client, "/held", "Content-Length: 100000000\r\n", "");
    static char block[4096];
    size_t sent = 0;
    for (double start = now(); now() < start + 0.2;) {
        ssize_t got = send(client->fd, block, sizeof block, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (got > 0)
            sent += (size_t)got;
        else
            usleep(5000);
    }
    assert_true(sent < 1000000);
    assert_int_equal(data_calls, 1);
    disconnect(client);
    wait_for_gone(2.0);
}

static void answers_at_the_head(void **state) {
    (void)state;
    struct client *client = connect_client();
    /* Nothing is sent: the answer comes all the same. */
    post(client, "/refuse", "Expect: 100-continue\r\nContent-Length: 2\r\n", "");
    expect(client, 403, "no");
    disconnect(client);
    /* What is sent is read, far beyond the bound of whole bodies, so that the answer is seen. */
    client = connect_client();
    static char block[1000000];
    post(client, "/refuse", "Content-Length: 1000000\r\n", "");
    send_bytes(client, block, sizeof block);
    expect(client, 403, "no");
    post(client, "/refuse", "Transfer-Encoding: chunked\r\n", "f4240\r\n");
    send_bytes(client, block, sizeof block);
    send_text(client, "\r\n0\r\n\r\n");
    expect(client, 403, "no");
    get(client, "/refuse");
    expect(client, 403, "no");
    post(client, "/whole", "Content-Length: 2\r\n", "ok");
    expect(client, 200, "ok");
    assert_int_equal(handled, 1);
    disconnect(client);
}

static void sends_an_answer_from_the_middle_after_the_rest(void **state) {
    (void)state;
    struct client *client = connect_client();
    static char block[1000000];
    memset(block, 'x', sizeof block);
    post(client, "/third", "Content-Length: 1000003\r\n", "ab");
    for (double start = now(); seen < 2; usleep(500))
        assert_true(now() < start + 5);
    send_text(client, "c");
    while (seen < 3)
        usleep(500);
    struct pollfd pfd = {.fd = client->fd, .events = POLLIN};
    assert_int_equal(poll(&pfd, 1, 50), 0);
    send_bytes(client, block, sizeof block);
    expect(client, 507, "full");
    assert_int_equal(seen, 3);
    post(client, "/whole", "Content-Length: 2\r\n", "ok");
    expect(client, 200, "ok");
    disconnect(client);
}

static void notices_a_client_that_leaves_in_the_middle(void **state) {
    (void)state;
    const char *headers[] = {"Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"};
    for (int i = 0; i < 2; i++) {
        seen = 0;
        gone_at = 0;
        gone_calls = 0;
        struct client *client = connect_client();
        post(client, "/all", headers[i], i ? "3\r\nabc\r\n" : "abc");
        for (double start = now(); seen < 3; usleep(500))
            assert_true(now() < start + 5);
        assert_int_equal(gone_calls, 0);
        disconnect(client);
        wait_for_gone(0.5);
    }
}

/* A client whose bytes and whose end are there before the server looks for the first time. */
static struct client *connect_ended_client(const char *text) {
    int pair[2];
    struct client *client = calloc(1, sizeof *client);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    client->fd = pair[0];
    send_text(client, text);
    shutdown(client->fd, SHUT_WR);
    hand_over(server, NULL, pair[1]);
    return client;
}

static void notices_an_end_that_comes_with_the_last_bytes(void **state) {
    (void)state;
    const char *const requests[] = {
        "POST /all HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n",
        "POST /all HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc",
        "POST /all HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nd",
        "POST /once HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabcdefg",
    };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        gone_at = 0;
        gone_calls = 0;
        struct client *client = connect_ended_client(requests[i]);
        wait_for_gone(2.0);
        disconnect(client);
    }
    /* Where nothing is streamed the connection is closed, too. */
    const char *const others[] = {"POST /whole HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab",
                                  "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n",
                                  "POST /whole HTTP/1.1\r\nHo"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct client *client = connect_ended_client(others[i]);
        assert_false(receive(client));
        disconnect(client);
    }
    assert_int_equal(handled, 0);
}

static void answers_what_is_complete_before_the_end(void **state) {
    (void)state;
    struct client *client =
        connect_ended_client("POST /all HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                             "Content-Length: 3\r\n\r\nabc"
                             "POST /all HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "3\r\ndef\r\n0\r\n\r\n"
                             "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi"
                             "GET /whole HTTP/1.1\r\nHost: h\r\n\r\n");
    struct answer answer = read_answer(client, false);
    if (answer.status == 100)
        answer = read_answer(client, false);
    assert_string_equal(answer.body, "3 294 abc");
    free(answer.body);
    expect(client, 200, "3 303 def");
    expect(client, 403, "no");
    expect(client, 200, "");
    /* And then nobody waits for more. */
    assert_false(receive(client));
    disconnect(client);
}

static void notices_a_client_that_leaves_while_held_back(void **state) {
    (void)state;
    /* With bytes in the socket that nobody reads, and without. */
    static char block[150000];
    for (int i = 0; i < 2; i++) {
        held = 0;
        gone_at = 0;
        gone_calls = 0;
        struct client *client = connect_client();
        post(client, "/held", "Content-Length: 1000000\r\n", "abc");
        wait_until_held();
        if (i)
            send_bytes(client, block, sizeof block);
        usleep(20000);
        assert_int_equal(gone_calls, 0);
        disconnect(client);
        wait_for_gone(i ? 1.5 : 0.5);
    }
}

static void serves_the_next_pipelined_request(void **state) {
    (void)state;
    struct client *client = connect_client();
    send_text(client, "POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
                      "POST /all HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "2\r\nde\r\n0\r\n\r\n"
                      "POST /whole HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nfg"
                      "POST /refuse HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi"
                      "POST /all HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nj");
    expect(client, 200, "3 294 abc");
    expect(client, 200, "2 201 de");
    expect(client, 200, "fg");
    expect(client, 403, "no");
    expect(client, 200, "1 106 j");
    disconnect(client);
}

static void can_be_freed_while_bodies_come(void **state) {
    (void)state;
    struct client *held_back = connect_client(), *incomplete = connect_client();
    post(held_back, "/held", "Content-Length: 10\r\n", "abc");
    post(incomplete, "/all", "Content-Length: 10\r\n", "abc");
    wait_until_held();
    while (seen < 3)
        usleep(500);
    tear_down(state);
    assert_int_equal(gone_calls, 0);
    /* Their holders may still go on and answer; it leads nowhere. */
    for (int i = 0; i < 2; i++) {
        http_body_resume(latest[i]->request);
        reply_counts(latest[i]);
    }
    disconnect(held_back);
    disconnect(incomplete);
    set_up(state);
}

static void *send_big(void *user) {
    struct client *client = user;
    static char block[256 * 1024];
    for (size_t sent = 0; sent < BIG_TOTAL; sent += sizeof block)
        send_bytes(client, block, sizeof block);
    return NULL;
}

static void takes_a_gigabyte_in_constant_memory(void **state) {
    (void)state;
    struct client *client = connect_client();
    struct rusage before, after;
    pthread_t sender;
    double start = now();
    getrusage(RUSAGE_SELF, &before);
    post(client, "/count", "Content-Length: 1073741824\r\n", "");
    assert_int_equal(pthread_create(&sender, NULL, send_big, client), 0);
    expect(client, 200, "1073741824 0 ");
    pthread_join(sender, NULL);
    getrusage(RUSAGE_SELF, &after);
    print_message("    1 GiB taken in %.0f ms\n", (now() - start) * 1e3);
    assert_true(after.ru_maxrss - before.ru_maxrss < 4096); /* KiB */
    disconnect(client);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(streams_sized_chunked_and_empty_bodies),
        TEST(leaves_other_requests_to_the_handler),
        TEST(takes_bytes_as_they_come),
        TEST(holds_a_client_back_for_a_slow_sink),
        TEST(reads_little_for_a_sink_that_takes_nothing),
        TEST(answers_at_the_head),
        TEST(sends_an_answer_from_the_middle_after_the_rest),
        TEST(notices_a_client_that_leaves_in_the_middle),
        TEST(notices_an_end_that_comes_with_the_last_bytes),
        TEST(answers_what_is_complete_before_the_end),
        TEST(notices_a_client_that_leaves_while_held_back),
        TEST(serves_the_next_pipelined_request),
        TEST(can_be_freed_while_bodies_come),
        TEST(takes_a_gigabyte_in_constant_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
