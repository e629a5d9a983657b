/* http_server_test.c - the HTTP server over socket pairs: a loop in a thread, blocking clients
 * here. */
#include "http_fixture.h"

#include <stdatomic.h>

#define MAX_BODY 100000
#define BIG_TOTAL ((size_t)32 * 1024 * 1024)

static http_server *server;

static atomic_int calls, gone_calls;
static _Atomic double gone_at; /* monotonic seconds of the latest on_gone, 0 when none */
static atomic_size_t max_pending;

/* The server's side. */

struct work {
    http_request *request;
    http_stream *stream;
    struct ev_timer timer;
    size_t written;
    int ticks;
};

static struct work *latest[8]; /* indexed by the number of calls so far */

static struct work *new_work(http_request *request) {
    struct work *work = calloc(1, sizeof *work);
    latest[calls % 8] = work;
    work->request = request;
    work->timer.data = work;
    return work;
}

static void reply_later(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct work *work = timer->data;
    http_reply(work->request, 200, "text/plain", "later", 5);
    free(work);
}

static void fill(void *user) {
    static char block[30000];
    struct work *work = user;
    while (work->written < BIG_TOTAL && http_stream_pending(work->stream) <= HTTP_STREAM_HIGH) {
        size_t length = BIG_TOTAL - work->written;
        if (length > sizeof block)
            length = sizeof block;
        for (size_t i = 0; i < length; i++)
            block[i] = (char)((work->written + i) % 251);
        http_stream_write(work->stream, block, length);
        work->written += length;
        size_t pending = http_stream_pending(work->stream);
        if (pending > max_pending)
            max_pending = pending;
    }
    if (work->written == BIG_TOTAL) {
        http_stream_end(work->stream);
        free(work);
    }
}

static void tick(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)events;
    struct work *work = timer->data;
    char line[16];
    int length = snprintf(line, sizeof line, "tick %d\n", work->ticks);
    http_stream_write(work->stream, line, (size_t)length);
    if (++work->ticks == 5) {
        ev_timer_stop(loop, timer);
        http_stream_end(work->stream);
        free(work);
    }
}

static void stream_gone(void *user) {
    struct work *work = user;
    gone_at = now();
    gone_calls++;
    http_stream_write(work->stream, "x", 1);
    http_stream_end(work->stream);
    free(work);
}

static void hold_gone(void *user) {
    struct work *work = user;
    gone_at = now();
    gone_calls++;
    assert_non_null(http_request_header(work->request, "Host"));
    http_reply(work->request, 200, NULL, "dropped", 7);
    free(work);
}

static void add_pair(const char *name, const char *value, void *user) {
    char *text = user;
    sprintf(text + strlen(text), "[%s=%s]", name, value);
}

static void handle(http_request *request, void *user) {
    (void)user;
    calls++;
    const char *path = http_request_path(request);
    size_t length;
    const char *body = http_request_body(request, &length);
    if (!strcmp(path, "/echo")) {
        http_reply_header(request, "X-Method", http_request_method(request));
        http_reply(request, 200, "application/octet-stream", body, length);
    } else if (!strcmp(path, "/close")) {
        http_reply_close(request);
        http_reply(request, 200, NULL, "bye", 3);
    } else if (!strcmp(path, "/json")) {
        http_reply_json(request, 201, json_pack("{s:s}", "tag", (char *)http_request_tag(request)));
    } else if (!strcmp(path, "/nothing")) {
        http_reply(request, 204, NULL, NULL, 0);
    } else if (!strcmp(path, "/query")) {
        char text[500] = "";
        http_request_each_query(request, add_pair, text);
        const char *a = http_request_query(request, "a");
        sprintf(text + strlen(text), "%s", a ? a : "(none)");
        http_reply(request, 200, NULL, text, strlen(text));
    } else if (!strcmp(path, "/later")) {
        struct work *work = new_work(request);
        ev_timer_init(&work->timer, reply_later, 0.02, 0.0);
        ev_timer_start(http_request_loop(request), &work->timer);
    } else if (!strcmp(path, "/big")) {
        struct work *work = new_work(request);
        work->stream = http_stream_start(request, 200, "text/plain");
        http_stream_on_drain(work->stream, fill, work);
        http_request_on_gone(request, stream_gone, work);
        fill(work);
    } else if (!strcmp(path, "/ticks")) {
        struct work *work = new_work(request);
        work->stream = http_stream_start(request, 200, NULL);
        ev_timer_init(&work->timer, tick, 0.02, 0.02);
        ev_timer_start(http_request_loop(request), &work->timer);
    } else if (!strcmp(path, "/silent")) {
        struct work *work = new_work(request);
        work->stream = http_stream_start(request, 200, NULL);
        http_request_on_gone(request, stream_gone, work);
        http_stream_write(work->stream, "first\n", 6);
    } else if (!strcmp(path, "/flood")) {
        struct work *work = new_work(request);
        work->stream = http_stream_start(request, 200, NULL);
        http_request_on_gone(request, stream_gone, work);
        static char block[1000000];
        http_stream_write(work->stream, block, sizeof block);
    } else if (!strcmp(path, "/hold")) {
        struct work *work = new_work(request);
        http_request_on_gone(request, hold_gone, work);
    } else if (!strcmp(path, "/abort")) {
        http_stream *stream = http_stream_start(request, 200, NULL);
        http_stream_write(stream, "half", 4);
        http_stream_abort(stream);
    } else {
        http_reply(request, 404, "text/plain", path, strlen(path));
    }
}

static int set_up(void **state) {
    (void)state;
    calls = gone_calls = 0;
    gone_at = 0;
    max_pending = 0;
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    server = http_server_new(loop, handle, NULL, MAX_BODY);
    assert_non_null(server);
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
    return connect_to(server, "the tag");
}

static void wait_for_gone(double since, double limit) {
    while (gone_at == 0.0 && now() < since + limit)
        usleep(1000);
    assert_true(gone_at != 0.0);
    assert_true(gone_at - since < limit);
}

/* The tests. */

static void serves_many_requests_on_one_connection(void **state) {
    (void)state;
    struct client *client = connect_client();
    send_text(client, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
    expect(client, 200, "hello");
    get(client, "/none%20such");
    expect(client, 404, "/none such");
    get(client, "/json");
    expect(client, 201, "{\"tag\":\"the tag\"}");
    get(client, "/nothing");
    assert_int_equal(read_answer(client, false).status, 204);
    get(client, "/later");
    expect(client, 200, "later");
    get(client, "/ticks");
    expect(client, 200, "tick 0\ntick 1\ntick 2\ntick 3\ntick 4\n");
    get(client, "/close");
    struct answer answer = read_answer(client, false);
    assert_non_null(strcasestr(answer.head, "\r\nConnection: close"));
    free(answer.body);
    assert_false(receive(client));
    disconnect(client);
}

static void answers_pipelined_requests_in_order(void **state) {
    (void)state;
    struct client *client = connect_client();
    send_text(client, "GET /later HTTP/1.1\r\nHost: h\r\n\r\nGET /ticks HTTP/1.1\r\nHost: h\r\n\r\n"
                      "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nokGET /later "
                      "HTTP/1.1\r\nHost: h\r\n\r\n");
    expect(client, 200, "later");
    expect(client, 200, "tick 0\ntick 1\ntick 2\ntick 3\ntick 4\n");
    expect(client, 200, "ok");
    expect(client, 200, "later");
    disconnect(client);
}

static void decodes_queries_and_keeps_nul_escaped(void **state) {
    (void)state;
    struct client *client = connect_client();
    get(client, "/query?a=1%2B1&b&c=%41+x");
    expect(client, 200, "[a=1+1][b=][c=A x]1+1");
    get(client, "/query");
    expect(client, 200, "(none)");
    get(client, "/none%00%zz%4");
    expect(client, 404, "/none%00%zz%4");
    disconnect(client);
}

static void takes_slow_chunked_and_expected_bodies(void **state) {
    (void)state;
    struct client *client = connect_client();
    const char *slow = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nslow!";
    for (const char *at = slow; *at; at++) {
        send_bytes(client, at, 1);
        usleep(300);
    }
    expect(client, 200, "slow!");
    send_text(client, "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    expect(client, 200, "abcde");
    send_text(client, "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                      "Content-Length: 2\r\n\r\n");
    assert_int_equal(read_answer(client, false).status, 100);
    send_text(client, "ok");
    expect(client, 200, "ok");
    disconnect(client);
}

static void post_sized(struct client *client, size_t length, size_t send_length) {
    char head[200];
    char *body = malloc(send_length + 1);
    memset(body, 'b', send_length);
    snprintf(head, sizeof head, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n",
             length);
    send_text(client, head);
    send_bytes(client, body, send_length);
    free(body);
}

static void refuses_bodies_that_are_too_large(void **state) {
    (void)state;
    struct client *client = connect_client();
    post_sized(client, MAX_BODY, MAX_BODY);
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.length, MAX_BODY);
    free(answer.body);
    assert_int_equal(calls, 1);

    post_sized(client, MAX_BODY + 1, MAX_BODY + 1);
    answer = read_answer(client, false);
    assert_int_equal(answer.status, 413);
    free(answer.body);

    /* The connection went on; a much larger body is refused without being read. */
    post_sized(client, (size_t)1 << 40, 0);
    answer = read_answer(client, false);
    assert_int_equal(answer.status, 413);
    free(answer.body);
    disconnect(client);

    client = connect_client();
    char *block = malloc(MAX_BODY);
    memset(block, 'c', MAX_BODY);
    send_text(client, "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    bool refused = false;
    for (int i = 0; i < 20 && !refused; i++) {
        char size[20];
        snprintf(size, sizeof size, "%x\r\n", MAX_BODY);
        refused = send(client->fd, size, strlen(size), MSG_NOSIGNAL) < 0 ||
                  send(client->fd, block, MAX_BODY, MSG_NOSIGNAL) < 0 ||
                  send(client->fd, "\r\n", 2, MSG_NOSIGNAL) < 0;
    }
    assert_true(refused);
    assert_int_equal(calls, 1);
    free(block);
    disconnect(client);
}

static void answers_head_without_a_body(void **state) {
    (void)state;
    struct client *client = connect_client();
    send_text(client, "HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    struct answer answer = read_answer(client, true);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.head, "X-Method: HEAD"));
    send_text(client, "HEAD /ticks HTTP/1.1\r\nHost: h\r\n\r\n");
    answer = read_answer(client, true);
    assert_int_equal(answer.status, 200);
    send_text(client, "HEAD /big HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_int_equal(read_answer(client, true).status, 200);
    wait_for_gone(now(), 0.1); /* the writer is told that nobody reads */
    usleep(200000);            /* the other one writes into the void to its end */
    get(client, "/json");
    expect(client, 201, "{\"tag\":\"the tag\"}");
    disconnect(client);
}

static void holds_a_writer_back_while_the_client_is_slow(void **state) {
    (void)state;
    struct client *client = connect_client();
    get(client, "/big");
    usleep(100000); /* nothing is read: the writer must stop soon */
    assert_true(max_pending > 0 && max_pending < HTTP_STREAM_HIGH + 64 * 1024);
    double start = now();
    struct answer answer = read_answer(client, false);
    print_message("    32 MiB streamed in %.0f ms\n", (now() - start) * 1e3);
    assert_false(answer.cut);
    assert_int_equal(answer.length, BIG_TOTAL);
    for (size_t i = 0; i < answer.length; i += 97)
        assert_int_equal((unsigned char)answer.body[i], i % 251);
    assert_true(max_pending < HTTP_STREAM_HIGH + 64 * 1024);
    free(answer.body);
    get(client, "/later");
    expect(client, 200, "later");
    disconnect(client);
}

static void notices_a_client_that_left_a_silent_stream(void **state) {
    (void)state;
    struct client *client = connect_client();
    get(client, "/silent");
    while (!memmem(client->buffer, client->have, "first\n", 6))
        assert_true(receive(client));
    usleep(20000);
    assert_true(gone_at == 0.0);
    double left = now();
    disconnect(client);
    wait_for_gone(left, 0.1);
}

static void notices_a_client_that_left_before_the_answer(void **state) {
    (void)state;
    struct client *client = connect_client();
    get(client, "/hold");
    usleep(20000);
    assert_true(gone_at == 0.0);
    double left = now();
    disconnect(client);
    wait_for_gone(left, 0.1);
}

static void notices_a_client_that_left_a_full_stream(void **state) {
    (void)state;
    struct client *client = connect_client();
    get(client, "/flood");
    usleep(20000);
    double left = now();
    disconnect(client);
    wait_for_gone(left, 0.1);

    gone_at = 0;
    client = connect_client();
    get(client, "/flood");
    usleep(20000);
    left = now();
    shutdown(client->fd, SHUT_WR);
    wait_for_gone(left, 0.1);
    disconnect(client);
}

static void notices_a_client_that_left_after_pipelining(void **state) {
    (void)state;
    struct client *client = connect_client();
    get(client, "/hold");
    usleep(20000);
    get(client, "/hold");
    usleep(20000);
    double left = now();
    disconnect(client);
    wait_for_gone(left, 1.2);
    assert_int_equal(calls, 1);
}

static void cuts_an_aborted_stream(void **state) {
    (void)state;
    struct client *client = connect_client();
    get(client, "/abort");
    struct answer answer = read_answer(client, false);
    assert_true(answer.cut);
    assert_string_equal(answer.body, "half");
    free(answer.body);
    disconnect(client);
}

static void can_be_freed_while_requests_wait(void **state) {
    (void)state;
    struct client *clients[3] = {connect_client(), connect_client(), connect_client()};
    get(clients[0], "/hold");
    get(clients[1], "/silent");
    get(clients[2], "/flood");
    while (calls < 3)
        usleep(1000);
    tear_down(state);
    /* Their holders may still answer; it leads nowhere. */
    for (int i = 1; i <= 3; i++) {
        assert_non_null(latest[i]);
        if (latest[i]->stream) {
            http_stream_write(latest[i]->stream, "x", 1);
            assert_int_equal(http_stream_pending(latest[i]->stream), 0);
            http_stream_end(latest[i]->stream);
        } else {
            http_reply(latest[i]->request, 200, NULL, "x", 1);
        }
        free(latest[i]);
    }
    for (int i = 0; i < 3; i++)
        disconnect(clients[i]);
    set_up(state);
}

static void sleeps_while_nothing_happens(void **state) {
    (void)state;
    struct client *idle = connect_client(), *silent = connect_client(), *held = connect_client();
    get(idle, "/json");
    expect(idle, 201, "{\"tag\":\"the tag\"}");
    get(silent, "/silent");
    get(held, "/hold");
    usleep(50000);
    struct timespec before, after;
    clockid_t clock;
    assert_int_equal(pthread_getcpuclockid(fixture.thread, &clock), 0);
    clock_gettime(clock, &before);
    usleep(300000);
    clock_gettime(clock, &after);
    double used =
        (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    assert_true(used < 0.01);
    disconnect(idle);
    disconnect(silent);
    disconnect(held);
    while (gone_calls < 2)
        usleep(1000);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void answers_fast(void **state) {
    (void)state;
    static double times[1000];
    struct client *client = connect_client();
    const char *paths[] = {"/json", "/later"};
    for (int i = 0; i < 1000; i++) {
        double start = now();
        get(client, paths[0]);
        expect(client, 201, "{\"tag\":\"the tag\"}");
        times[i] = now() - start;
    }
    qsort(times, 1000, sizeof times[0], by_value);
    print_message("    1000 requests: round trip p50 %.0f us, p99 %.0f us\n", times[500] * 1e6,
                  times[990] * 1e6);
    assert_true(times[500] < 0.02);
    disconnect(client);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(serves_many_requests_on_one_connection),
        TEST(answers_pipelined_requests_in_order),
        TEST(decodes_queries_and_keeps_nul_escaped),
        TEST(takes_slow_chunked_and_expected_bodies),
        TEST(refuses_bodies_that_are_too_large),
        TEST(answers_head_without_a_body),
        TEST(holds_a_writer_back_while_the_client_is_slow),
        TEST(notices_a_client_that_left_a_silent_stream),
        TEST(notices_a_client_that_left_before_the_answer),
        TEST(notices_a_client_that_left_a_full_stream),
        TEST(notices_a_client_that_left_after_pipelining),
        TEST(cuts_an_aborted_stream),
        TEST(can_be_freed_while_requests_wait),
        TEST(sleeps_while_nothing_happens),
        TEST(answers_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
