/* Steps against servers that answer well, badly, slowly, or not at all. */
#include "connection.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define EXECUTE "POST /execute"
#define OUTPUT(text) "{\"type\": \"stdout\", \"text\": \"" text "\"}\n"
#define END "{\"type\": \"end_of_execution\"}\n"

/* Runs a step and leaves it for the test to look at and free. */
static sb_op *run(struct connection *c, const sb_step_options *options) {
    sb_op *op = sb_step(c->box, "code", 4, options, &c->error);
    assert_non_null(op);
    c->error = (sb_error){0};
    sb_op_wait(op, &c->error);
    return op;
}

static void check(struct connection *c, sb_code code, const char *message, const char *out) {
    sb_op *op = run(c, NULL);
    assert_string_equal(sb_code_name(c->error.code), sb_code_name(code));
    if (message != NULL) {
        if (strstr(c->error.message, message) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", message, c->error.message);
        }
    }
    assert_string_equal(sb_op_execution(op)->out, out);
    sb_op_free(op);
}

static void a_step_gives_its_output(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE, OUTPUT("hello\\n") END, true, ANSWER_KEEP);
    check(c, SB_OK, NULL, "hello\n");
    assert_int_equal(server_count(c->server, "Host: 49999-i123.stepbox"), 1);
    assert_int_equal(server_count(c->server, "X-Access-Token: token"), 1);
    assert_int_equal(server_count(c->server, "\r\n\r\n{\"code\":\"code\"}"), 1);
}

static void a_remote_step_carries_its_headers(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE, OUTPUT("hello") END, true, ANSWER_KEEP);
    check(c, SB_OK, NULL, "hello");
    assert_int_equal(server_count(c->server, "E2b-Sandbox-Id: i123\r\n"), 1);
    assert_int_equal(server_count(c->server, "E2b-Sandbox-Port: 49999\r\n"), 1);
    assert_int_equal(server_count(c->server, "X-API-KEY: key\r\n"), 1); /* connect's alone */
}

static void options_travel_as_data(void **state) {
    struct connection *c = *state;
    sb_pair envs[] = {{"A", "'; import os\n\\"}};
    sb_step_options options = {.language = "python", .envs = envs, .env_count = 1};
    server_add_stream(c->server, EXECUTE, END, true, ANSWER_KEEP);
    sb_op_free(run(c, &options));
    assert_int_equal(server_count(c->server,
                                  "{\"code\":\"code\",\"language\":\"python\",\"env_vars\":"
                                  "{\"A\":\"'; import os\\n\\\\\"}}"),
                     1);
}

static void misuse_is_told_at_once(void **state) {
    struct connection *c = *state;
    sb_step_options both = {.language = "python", .context = "x"}, negative = {.timeout = -1},
                    no_number = {.timeout = NAN};
    sb_pair bad[] = {{"A", "\xff"}};
    sb_step_options bad_env = {.envs = bad, .env_count = 1};
    assert_null(sb_step(c->box, "x", 1, &both, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
    assert_null(sb_step(c->box, "x", 1, &negative, &c->error));
    assert_null(sb_step(c->box, "x", 1, &no_number, &c->error));
    assert_null(sb_step(c->box, "x", 1, &bad_env, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
    assert_null(sb_step(c->box, "\xff", 1, NULL, &c->error));
    assert_string_equal(c->error.message, "code: is not UTF-8");
    assert_null(sb_step(c->box, NULL, 0, NULL, NULL));
    assert_int_equal(server_count(c->server, "/execute"), 0);
}

static void one_byte_at_a_time_is_enough(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE, OUTPUT("slow \\u00e9") END, true, ANSWER_SLOWLY);
    check(c, SB_OK, NULL, "slow \xc3\xa9");
}

static void a_stream_that_is_cut_is_no_success(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE, OUTPUT("partial"), false, ANSWER_CLOSE);
    check(c, SB_SANDBOX_LOST, "cut", "partial");
    server_add(c->server, EXECUTE, "", ANSWER_CLOSE);
    check(c, SB_SANDBOX_LOST, "cut", "");
    server_add(c->server, EXECUTE, "HTTP/1.1 200 OK\r\n\r\n" OUTPUT("partial"), ANSWER_CLOSE);
    check(c, SB_SANDBOX_LOST, "ended before", "partial");
    server_add(c->server, EXECUTE, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" OUTPUT("p"),
               ANSWER_RESET);
    check(c, SB_SANDBOX_LOST, "cut", "p");
}

static void half_a_line_is_no_success(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE, OUTPUT("kept") "{\"type\": \"std", false, ANSWER_CLOSE);
    check(c, SB_SANDBOX_LOST, NULL, "kept");
    server_add_stream(c->server, EXECUTE, OUTPUT("kept") "{\"type\": \"std", true, ANSWER_KEEP);
    check(c, SB_PROTOCOL, "{\"type\": \"std", "kept");
}

static void an_orderly_end_without_the_codes_end_is_no_success(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE, OUTPUT("all?"), true, ANSWER_KEEP);
    check(c, SB_PROTOCOL, "ended before", "all?");
}

static void the_codes_end_is_enough_whatever_follows(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE, OUTPUT("done") END "garbage\n", false, ANSWER_CLOSE);
    check(c, SB_OK, NULL, "done");
    /* A server that forgets to end its answer is not waited for. */
    double start = server_clock();
    server_add_stream(c->server, EXECUTE, OUTPUT("done") END, false, ANSWER_HOLD);
    check(c, SB_OK, NULL, "done");
    assert_true(server_clock() - start < 3);
}

static void html_is_named_as_such(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, EXECUTE, "200 OK", "Content-Type: text/html; charset=utf-8\r\n",
                     "<html>login</html>");
    check(c, SB_PROTOCOL, "HTML", "");
    server_add_reply(c->server, EXECUTE, "200 OK", "", "<html>login</html>");
    check(c, SB_PROTOCOL, "<html>login", "");
    server_add_reply(c->server, EXECUTE, "503 Service Unavailable", "Content-Type: text/html\r\n",
                     "<html>");
    check(c, SB_UNAVAILABLE, "HTTP 503, with a page of HTML", "");
    server_add_reply(c->server, EXECUTE, "302 Found", "Location: http://x/\r\n", "");
    check(c, SB_PROTOCOL, "HTTP 302", "");
    server_add(c->server, EXECUTE, "SSH-2.0-OpenSSH_9.2\r\n\r\n", ANSWER_CLOSE);
    check(c, SB_PROTOCOL, NULL, "");
}

/* Versions of libcurl differ in what they make of it; none may be led to memory that was freed. */
static void an_answer_that_begins_with_a_folded_header_harms_nothing(void **state) {
    struct connection *c = *state;
    for (int i = 0; i < 3; i++) {
        server_add_reply(c->server, EXECUTE, "200 OK", "X-A: a\r\nX-B: b\r\n", OUTPUT("x") END);
        check(c, SB_OK, NULL, "x");
        server_add(c->server, EXECUTE, "HTTP/1.1 200 OK\r\n folded: header\r\n\r\n", ANSWER_CLOSE);
        sb_op *op = sb_step(c->box, "1", 1, NULL, &c->error);
        assert_int_not_equal(connection_end(c, op), SB_OK);
    }
}

static void garbage_within_keeps_what_came_before(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE, OUTPUT("kept") "{\"type\": nonsense}\n" END, true,
                      ANSWER_KEEP);
    check(c, SB_PROTOCOL, "{\"type\": nonsense}", "kept");
    assert_int_equal(c->error.status, 200);
}

static void statuses_become_codes(void **state) {
    struct connection *c = *state;
    static const struct {
        const char *status, *headers, *body;
        sb_code code;
        const char *message;
    } cases[] = {
        {"500 Internal Server Error", "", "", SB_UNAVAILABLE, "HTTP 500, without a message"},
        {"401 Unauthorized", "", "{\"code\": 401, \"message\": \"no key\"}", SB_UNAUTHORIZED,
         "HTTP 401: no key"},
        {"403 Forbidden", "", "", SB_UNAUTHORIZED, NULL},
        {"429 Too Many Requests", "", "slow down", SB_RATE_LIMITED, "slow down"},
        {"404 Not Found", "", "Context x not found", SB_NOT_FOUND, "Context x not found"},
        {"400 Bad Request", "", "Only one of context_id or language can be provided", SB_INVALID,
         "Only one"},
        {"422 Unprocessable Content", "Content-Type: application/json\r\n",
         "{\"detail\":[{\"loc\":[\"body\",\"env_vars\",0],\"msg\":\"not a "
         "string\"},{\"loc\":[\"x\"],"
         "\"msg\":\"bad\"}]}",
         SB_INVALID, "body.env_vars.0: not a string; x: bad"},
        {"500 Internal Server Error", "", "Failed to create context: {\"message\": \"no cobol\"}",
         SB_UNSUPPORTED, "no cobol"},
        {"400 Bad Request", "", "Failed to create context: no cobol", SB_UNSUPPORTED, "no cobol"},
        {"502 Bad Gateway", "",
         "{\"sandboxId\": \"i123\", \"message\": \"The sandbox was not found\", \"code\": 502}",
         SB_SANDBOX_LOST, "there is no sandbox i123"},
        {"502 Bad Gateway", "",
         "{\"sandboxId\": \"i123\", \"message\": \"port is not open\", \"port\": 49999}",
         SB_UNAVAILABLE, "port is not open"},
        {"502 Bad Gateway", "", "bad", SB_UNAVAILABLE, "bad"},
        {"204 No Content", "", "", SB_PROTOCOL, "HTTP 204"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        server_add_reply(c->server, EXECUTE, cases[i].status, cases[i].headers, cases[i].body);
        check(c, cases[i].code, cases[i].message, "");
        assert_int_equal(c->error.status, atoi(cases[i].status));
    }
}

static void a_deadline_ends_a_silent_step_with_what_came(void **state) {
    struct connection *c = *state;
    sb_step_options options = {.timeout = 0.2};
    server_add_stream(c->server, EXECUTE, OUTPUT("partial"), false, ANSWER_HOLD);
    double start = server_clock();
    sb_op *op = run(c, &options);
    assert_int_equal(c->error.code, SB_TIMEOUT);
    assert_true(server_clock() - start >= 0.2 && server_clock() - start < 1);
    assert_string_equal(sb_op_execution(op)->out, "partial");
    assert_true(sb_op_execution(op)->duration >= 0.2);
    sb_op_free(op);
    /* The connection was closed, which is what interrupts the code. */
    for (int i = 0; i < 500 && server_hung_up(c->server) == 0; i++) {
        server_pause();
    }
    assert_int_equal(server_hung_up(c->server), 1);
    server_add(c->server, EXECUTE, "", ANSWER_HOLD);
    op = run(c, &options);
    assert_int_equal(c->error.code, SB_TIMEOUT);
    sb_op_free(op);
}

/* The client's request_timeout is for other requests: a step's own deadline alone decides. */
static void a_step_may_take_longer_than_a_request(void **state) {
    struct connection *c = *state;
    sb_client *client = connection_client(c, 0.1);
    sb_box *box = connection_box(c, sb_connect(client, "i123", NULL, &c->error));
    sb_step_options options = {.timeout = 0.4};
    double start = server_clock();
    server_add(c->server, EXECUTE, "", ANSWER_HOLD);
    assert_int_equal(connection_end(c, sb_step(box, "x", 1, &options, &c->error)), SB_TIMEOUT);
    assert_true(server_clock() - start >= 0.4);
    sb_box_free(box);
    sb_client_free(client);
}

static void a_runner_that_dies_is_told_with_what_came(void **state) {
    struct connection *c = *state;
    server_add_stream(
        c->server, EXECUTE,
        OUTPUT("partial") "{\"type\": \"error\", \"name\": \"ContextRestarting\", "
                          "\"value\": \"Context was restarted\", \"traceback\": \"\"}\n",
        true, ANSWER_KEEP);
    check(c, SB_CONTEXT_LOST, "Context was restarted", "partial");
    server_add_stream(c->server, EXECUTE,
                      "{\"type\": \"error\", \"name\": \"WebSocketError\", "
                      "\"value\": \"\", \"traceback\": \"\"}\n" END,
                      true, ANSWER_KEEP);
    check(c, SB_CONTEXT_LOST, "WebSocketError", "");
}

static void code_that_raises_is_a_success(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE,
                      "{\"type\": \"error\", \"name\": \"E\", \"value\": \"v\", \"traceback\": "
                      "\"t\"}\n" END,
                      true, ANSWER_KEEP);
    sb_op *op = run(c, NULL);
    assert_int_equal(c->error.code, SB_OK);
    assert_string_equal(sb_op_execution(op)->error->name, "E");
    sb_op_free(op);
}

static void a_huge_line_is_refused_with_bounded_memory(void **state) {
    struct connection *c = *state;
    size_t length = 66u * 1024 * 1024;
    char *body = malloc(length);
    memset(body, 'a', length);
    memcpy(body, "{\"type\": \"stdout\", \"text\": \"", 27);
    server_add_stream_bytes(c->server, EXECUTE, body, length, false, ANSWER_CLOSE);
    free(body);
    check(c, SB_TOO_LARGE, "a line of more than", "");
}

/* A request on a kept connection that dies without an answer is not sent again: the code may have
 * run. */
static void code_is_never_sent_twice(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, EXECUTE, END, true, ANSWER_KEEP);
    check(c, SB_OK, NULL, "");
    server_add(c->server, EXECUTE, "", ANSWER_CLOSE);
    server_add_stream(c->server, EXECUTE, OUTPUT("again") END, true, ANSWER_KEEP);
    check(c, SB_SANDBOX_LOST, "cut", "");
    assert_int_equal(server_count(c->server, EXECUTE), 2);
}

/* Nor on another connection that was kept. */
static void code_is_not_sent_again_on_another_connection(void **state) {
    struct connection *c = *state;
    sb_op *ops[2];
    for (int i = 0; i < 2; i++) {
        server_add_stream(c->server, EXECUTE, END, true, ANSWER_KEEP);
        ops[i] = sb_step(c->box, "x", 1, NULL, &c->error);
    }
    assert_int_equal(connection_end(c, ops[0]), SB_OK);
    assert_int_equal(connection_end(c, ops[1]), SB_OK);
    server_add(c->server, EXECUTE, "", ANSWER_CLOSE);
    check(c, SB_SANDBOX_LOST, "cut", "");
    assert_int_equal(server_count(c->server, EXECUTE), 3);
}

static void a_cancelled_step_ends_at_once_with_what_came(void **state) {
    struct connection *c = *state;
    sb_step_options options = {.events = true};
    server_add_stream(c->server, EXECUTE, OUTPUT("partial"), false, ANSWER_HOLD);
    sb_op *op = sb_step(c->box, "x", 1, &options, &c->error);
    sb_op *ready;
    while ((ready = sb_loop_ready(c->loop)) == NULL) {
        assert_int_equal(sb_loop_step(c->loop, 5, &c->error), 0);
    }
    assert_ptr_equal(ready, op);
    assert_non_null(sb_op_next_event(op));
    sb_op_cancel(op);
    assert_true(sb_op_done(op));
    assert_int_equal(sb_op_error(op, &c->error), SB_CANCELLED);
    assert_string_equal(sb_op_execution(op)->out, "partial");
    sb_op_cancel(op); /* once more does nothing */
    sb_op_free(op);
    sb_op_free(sb_step(c->box, "x", 1, NULL, &c->error)); /* freed while it runs */
}

static void a_closed_box_says_so(void **state) {
    struct connection *c = *state;
    server_add(c->server, EXECUTE, "", ANSWER_HOLD);
    sb_op *running = sb_step(c->box, "x", 1, NULL, &c->error);
    sb_loop_step(c->loop, 0, NULL);
    assert_int_equal(connection_end(c, sb_box_kill(c->box, &c->error)), SB_OK);
    assert_true(sb_box_closed(c->box));
    sb_op *op = sb_step(c->box, "x", 1, NULL, &c->error);
    assert_true(sb_op_done(op));
    assert_int_equal(sb_op_error(op, NULL), SB_CLOSED);
    assert_string_equal(sb_op_execution(op)->out, "");
    sb_op_free(op);
    assert_int_equal(connection_end(c, sb_box_info(c->box, &c->error)), SB_CLOSED);
    assert_int_equal(connection_end(c, sb_box_kill(c->box, &c->error)), SB_CLOSED);
    sb_op_free(running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(a_step_gives_its_output),
        WITH_TCP(a_remote_step_carries_its_headers),
        WITH(options_travel_as_data),
        WITH(misuse_is_told_at_once),
        WITH(one_byte_at_a_time_is_enough),
        WITH_TCP(one_byte_at_a_time_is_enough),
        WITH(a_stream_that_is_cut_is_no_success),
        WITH_TCP(a_stream_that_is_cut_is_no_success),
        WITH(half_a_line_is_no_success),
        WITH(an_orderly_end_without_the_codes_end_is_no_success),
        WITH(the_codes_end_is_enough_whatever_follows),
        WITH(html_is_named_as_such),
        WITH(an_answer_that_begins_with_a_folded_header_harms_nothing),
        WITH_TCP(html_is_named_as_such),
        WITH(garbage_within_keeps_what_came_before),
        WITH(statuses_become_codes),
        WITH(a_deadline_ends_a_silent_step_with_what_came),
        WITH_TCP(a_deadline_ends_a_silent_step_with_what_came),
        WITH(a_step_may_take_longer_than_a_request),
        WITH(a_runner_that_dies_is_told_with_what_came),
        WITH(code_that_raises_is_a_success),
        WITH(a_huge_line_is_refused_with_bounded_memory),
        WITH(code_is_never_sent_twice),
        WITH_TCP(code_is_never_sent_twice),
        WITH(code_is_not_sent_again_on_another_connection),
        WITH_TCP(code_is_not_sent_again_on_another_connection),
        WITH(a_cancelled_step_ends_at_once_with_what_came),
        WITH(a_closed_box_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
