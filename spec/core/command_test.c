/* Commands: what each way of ending gives. */
#include "command_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void a_command_gives_output_and_exit_code(void **state) {
    struct connection *c = *state;
    add(c,
        (const char *[]){STARTED, KEEPALIVE, OUT("aGkK"),
                         "0{\"event\":{\"data\":{\"stderr\":"
                         "\"b2g=\"}}}",
                         FAILED, "2{}", NULL},
        true, ANSWER_SLOWLY);
    sb_op *op = run(c, "echo 'hi'", NULL);
    const sb_command_result *result = sb_op_command(op);
    assert_int_equal(c->error.code, SB_OK);
    assert_int_equal(sb_op_pid(op), 7);
    assert_int_equal(result->exit_code, 3);
    assert_string_equal(result->command, "echo 'hi'");
    assert_string_equal(result->out, "hi\n");
    assert_string_equal(result->err, "oh");
    sb_op_free(op);
    assert_int_equal(server_count(c->server,
                                  "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"-l\",\"-c\","
                                  "\"echo 'hi'\"],\"envs\":{}},\"stdin\":false}"),
                     1);
    assert_int_equal(server_count(c->server, "Host: 49983-i123.stepbox"), 1);
    assert_int_equal(server_count(c->server, "Content-Type: application/connect+json"), 1);
    assert_int_equal(server_count(c->server, "Connect-Protocol-Version: 1"), 1);
    assert_int_equal(server_count(c->server, "Connect-Timeout-Ms: 300000\r\n"), 1);
    assert_int_equal(server_count(c->server, "Stepbox-Bound: 1"), 1);
    /* An old server has to be told who its default user is. */
    assert_int_equal(server_count(c->server, "Authorization: Basic dXNlcjo=\r\n"), 1);
}

static void check(struct connection *c, sb_code code, const char *message, const char *out) {
    sb_op *op = run(c, "x", NULL);
    assert_string_equal(sb_code_name(c->error.code), sb_code_name(code));
    if (message != NULL && strstr(c->error.message, message) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", c->error.message, message);
    }
    assert_string_equal(sb_op_command(op)->out, out);
    assert_int_equal(sb_op_command(op)->exit_code, code == SB_OK ? 0 : -1);
    sb_op_free(op);
}

static void a_stream_that_is_cut_is_no_success(void **state) {
    struct connection *c = *state;
    add(c, (const char *[]){STARTED, OUT("YQ=="), NULL}, false, ANSWER_CLOSE);
    check(c, SB_SANDBOX_LOST, "cut before the command's end", "a");
    add(c, (const char *[]){STARTED, OUT("YQ=="), NULL}, true, ANSWER_KEEP);
    check(c, SB_PROTOCOL, "ended before the command's end", "a");
    add(c, (const char *[]){STARTED, OUT("YQ=="), "2{}", NULL}, true, ANSWER_KEEP);
    check(c, SB_PROTOCOL, "ended before the command's end", "a");
    server_add(c->server, START, "", ANSWER_CLOSE);
    check(c, SB_SANDBOX_LOST, "cut", "");
    server_add(c->server, START, "HTTP/1.1 200 OK\r\n\r\n", ANSWER_CLOSE);
    check(c, SB_SANDBOX_LOST, "ended before", "");
}

static void the_commands_end_is_enough_whatever_follows(void **state) {
    struct connection *c = *state;
    double start = server_clock();
    add(c, (const char *[]){STARTED, OUT("YQ=="), EXITED, NULL}, false, ANSWER_CLOSE);
    check(c, SB_OK, NULL, "a");
    add(c, (const char *[]){STARTED, OUT("YQ=="), EXITED, "0more", NULL}, true, ANSWER_KEEP);
    check(c, SB_OK, NULL, "a");
    add(c, (const char *[]){STARTED, OUT("YQ=="), EXITED, NULL}, false, ANSWER_HOLD);
    check(c, SB_OK, NULL, "a");
    assert_true(server_clock() - start < 3);
}

static void errors_become_codes(void **state) {
    struct connection *c = *state;
    static const struct {
        const char *status, *headers, *body;
        sb_code code;
        const char *message;
    } cases[] = {
        {"400 Bad Request", "", "{\"code\":\"invalid_argument\",\"message\":\"cwd\"}", SB_INVALID,
         "command: cwd"},
        {"401 Unauthorized", "", "{\"code\":\"unauthenticated\",\"message\":\"invalid username\"}",
         SB_UNAUTHORIZED, "command: invalid username"},
        {"429 Too Many Requests", "", "{\"code\":\"resource_exhausted\"}", SB_RATE_LIMITED,
         "command: resource_exhausted"},
        {"500 X", "", "{\"code\":\"internal\",\"message\":\"fork: no space left on device\"}",
         SB_NO_SPACE, "no space left"},
        {"404 Not Found", "", "{\"code\":404,\"message\":\"sandbox i123 not found\"}", SB_NOT_FOUND,
         "sandbox i123 not found"},
        {"502 Bad Gateway", "", "{\"sandboxId\":\"i123\",\"message\":\"gone\",\"code\":502}",
         SB_SANDBOX_LOST, "there is no sandbox i123"},
        {"502 Bad Gateway", "", "{\"sandboxId\":\"i123\",\"message\":\"closed\",\"port\":49983}",
         SB_UNAVAILABLE, "closed"},
        {"404 Not Found", "Content-Type: text/plain\r\n", "404 page not found\n", SB_UNSUPPORTED,
         "no such call"},
        {"200 OK", "Content-Type: text/html\r\n", "<html>login</html>", SB_PROTOCOL, "HTML"},
        {"200 OK", "", "<html>login</html>", SB_PROTOCOL, "no stream of messages"},
        {"204 No Content", "", "", SB_PROTOCOL, "ended before"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        server_add_reply(c->server, START, cases[i].status, cases[i].headers, cases[i].body);
        check(c, cases[i].code, cases[i].message, "");
    }
    add(c, (const char *[]){"2{\"error\":{\"code\":\"not_found\",\"message\":\"no user\"}}", NULL},
        true, ANSWER_KEEP);
    check(c, SB_NOT_FOUND, "command: no user", "");
}

static void the_servers_word_that_the_time_is_over_is_a_timeout(void **state) {
    struct connection *c = *state;
    sb_command_options options = {.timeout = 0.2};
    add(c,
        (const char *[]){STARTED, OUT("YQ=="),
                         "2{\"error\":{\"code\":\"deadline_exceeded\",\"message\":\"x\"}}", NULL},
        true, ANSWER_KEEP);
    sb_op *op = run(c, "x", &options);
    assert_int_equal(c->error.code, SB_TIMEOUT);
    assert_string_equal(c->error.message, "command: it did not end within 0.2 s");
    assert_string_equal(sb_op_command(op)->out, "a");
    sb_op_free(op);
    /* A server's kill at the deadline comes first at times. */
    add(c, (const char *[]){STARTED, KILLED, "2{}", NULL}, true, ANSWER_LATE);
    op = run(c, "x", &options);
    assert_int_equal(c->error.code, SB_TIMEOUT);
    sb_op_free(op);
    /* In time it is an end like others. */
    add(c, (const char *[]){STARTED, KILLED, "2{}", NULL}, true, ANSWER_KEEP);
    op = run(c, "x", NULL);
    assert_int_equal(c->error.code, SB_OK);
    assert_string_equal(sb_op_command(op)->how, "signal: killed");
    sb_op_free(op);
}

static void a_command_may_take_longer_than_a_request(void **state) {
    struct connection *c = *state;
    sb_client *client = connection_client(c, 0.1);
    sb_box *box = connection_box(c, sb_connect(client, "i123", NULL, &c->error));
    sb_command_options endless = {.timeout = INFINITY};
    /* The answer's begin has the bound of a request; what follows takes its time. */
    server_add(c->server, START, "", ANSWER_HOLD);
    assert_int_equal(connection_end(c, sb_command(box, "x", &endless, &c->error)), SB_TIMEOUT);
    add(c, (const char *[]){STARTED, NULL}, false, ANSWER_HOLD);
    sb_op *op = sb_command(box, "x", &endless, &c->error);
    for (double start = server_clock(); server_clock() - start < 0.4;) {
        sb_loop_step(c->loop, 0.05, NULL);
    }
    assert_false(sb_op_done(op));
    sb_op_free(op);
    sb_box_free(box);
    sb_client_free(client);
}

static void the_process_id_is_news(void **state) {
    struct connection *c = *state;
    add(c, (const char *[]){STARTED, NULL}, false, ANSWER_HOLD);
    sb_op *op = sb_command(c->box, "x", NULL, &c->error), *ready;
    assert_int_equal(sb_op_pid(op), 0);
    while ((ready = sb_loop_ready(c->loop)) == NULL) {
        assert_int_equal(sb_loop_step(c->loop, 5, &c->error), 0);
    }
    assert_ptr_equal(ready, op);
    assert_false(sb_op_done(op));
    assert_int_equal(sb_op_pid(op), 7);
    sb_op_free(op);
}

static void a_reader_of_events_gets_all_and_holds_the_rest_back(void **state) {
    struct connection *c = *state;
    sb_command_options options = {.events = true, .max_output = 10};
    size_t piece = 400000, count = 0, length = 0;
    char *message = malloc(piece + 100);
    int head = sprintf(message, "0{\"event\":{\"data\":{\"stdout\":\"");
    memset(message + head, 'A', piece);
    strcpy(message + head + piece, "\"}}}");
    const char *messages[20];
    for (size_t i = 0; i < 16; i++) {
        messages[i] = message;
    }
    messages[16] = EXITED;
    messages[17] = "2{}";
    messages[18] = NULL;
    add(c, messages, true, ANSWER_KEEP);
    sb_op *op = sb_command(c->box, "x", &options, &c->error);
    for (int i = 0; i < 20; i++) {
        sb_loop_step(c->loop, 0.01, NULL);
    }
    assert_false(sb_op_done(op));
    while (!sb_op_done(op) || count < 16) {
        const sb_event *event = sb_op_next_event(op);
        if (event == NULL) {
            assert_int_equal(sb_loop_step(c->loop, 5, &c->error), 0);
            continue;
        }
        count++;
        length += event->output.length;
    }
    assert_int_equal(length, 16 * (piece / 4 * 3));
    assert_int_equal(sb_op_command(op)->out_length, 10);
    assert_true(sb_op_command(op)->out_truncated);
    sb_op_free(op);
    free(message);
}

static void a_closed_box_says_so(void **state) {
    struct connection *c = *state;
    const sb_process process = {.pid = 7};
    server_add(c->server, START, "", ANSWER_HOLD);
    sb_op *running = sb_command(c->box, "x", NULL, &c->error);
    sb_loop_step(c->loop, 0, NULL);
    assert_int_equal(connection_end(c, sb_box_kill(c->box, &c->error)), SB_OK);
    sb_op *op = sb_command(c->box, "x", NULL, &c->error);
    assert_true(sb_op_done(op));
    assert_int_equal(sb_op_error(op, NULL), SB_CLOSED);
    assert_string_equal(sb_op_command(op)->out, "");
    sb_op_free(op);
    assert_int_equal(connection_end(c, sb_process_connect(c->box, &process, NULL, &c->error)),
                     SB_CLOSED);
    sb_op_free(running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(a_command_gives_output_and_exit_code),
        WITH(a_stream_that_is_cut_is_no_success),
        WITH_TCP(a_stream_that_is_cut_is_no_success),
        WITH(the_commands_end_is_enough_whatever_follows),
        WITH(errors_become_codes),
        WITH_TCP(errors_become_codes),
        WITH(the_servers_word_that_the_time_is_over_is_a_timeout),
        WITH_TCP(the_servers_word_that_the_time_is_over_is_a_timeout),
        WITH(a_command_may_take_longer_than_a_request),
        WITH(the_process_id_is_news),
        WITH(a_reader_of_events_gets_all_and_holds_the_rest_back),
        WITH_TCP(a_reader_of_events_gets_all_and_holds_the_rest_back),
        WITH(a_closed_box_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
