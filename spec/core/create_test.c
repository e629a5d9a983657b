/* create_test.c - sandboxes that are made: what is sent, setup commands, keys, what goes wrong. */
#include "box_fixture.h"
#include "connect_messages.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define START "POST /process.Process/Start"

static void add_setup_answer(struct connection *c, const char *const *messages, bool is_whole,
                             enum answer_way way) {
    server_add_messages(c->server, START, messages, is_whole, way);
}

static void create_sends_what_is_given_and_nothing_else(void **state) {
    struct connection *c = *state;
    sb_pair envs[] = {{"A", "1"}}, none[1];
    sb_create_options options = {.template_id = "base",
                                 .timeout = 12.2,
                                 .envs = envs,
                                 .env_count = 1,
                                 .metadata = none,
                                 .allow_internet = -1};
    sb_box *box = create(c, &options);
    assert_string_equal(sb_box_id(box), "i123");
    assert_true(sb_box_owns(box));
    assert_int_equal(
        server_count(c->server, "{\"templateID\":\"base\",\"timeout\":13,\"envVars\":{\"A\":\"1\"},"
                                "\"metadata\":{},\"allow_internet_access\":false}"),
        1);
    assert_int_equal(server_count(c->server, "Stepbox-Lease: process"), 1);
    sb_box_free(box);
    options = (sb_create_options){.disown = true};
    box = create(c, &options);
    assert_false(sb_box_owns(box));
    assert_int_equal(
        server_count(c->server, "{\"templateID\":\"code-interpreter-v1\",\"timeout\":300}"), 1);
    assert_int_equal(server_count(c->server, "Stepbox-Lease: process"), 1);
    sb_box_free(box);
}

static void bad_options_are_refused(void **state) {
    struct connection *c = *state;
    sb_pair bad[] = {{"A", NULL}};
    const char *command = NULL;
    const sb_create_options options[] = {{.timeout = -1},
                                         {.timeout = NAN},
                                         {.timeout = 1e12},
                                         {.envs = bad, .env_count = 1},
                                         {.setup = &command, .setup_count = 1},
                                         {.idempotency_key = ""},
                                         {.request_timeout = -1}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        assert_null(sb_create(c->client, &options[i], &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
    }
    assert_null(sb_connect(c->client, "../i", NULL, &c->error));
    assert_null(sb_kill(c->client, "", &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
    assert_null(sb_box_set_timeout(c->box, 0, &c->error));
    assert_null(sb_box_set_timeout(c->box, -1, &c->error));
}

static void setup_runs_in_order_and_shows_its_output(void **state) {
    struct connection *c = *state;
    const char *setup[] = {"echo 'a\"b'", "two"};
    sb_create_options options = {.setup = setup, .setup_count = 2, .events = true};
    add_setup_answer(c,
                     (const char *[]){STARTED, "0{\"event\":{\"data\":{\"stdout\":\"aGk=\"}}}",
                                      KEEPALIVE, EXITED, "2{}", NULL},
                     true, ANSWER_SLOWLY);
    add_setup_answer(c,
                     (const char *[]){STARTED, "0{\"event\":{\"data\":{\"stderr\":\"b2g=\"}}}",
                                      "0{\"event\":{\"end\":{\"exited\":true}}}", "2{}", NULL},
                     true, ANSWER_KEEP);
    sb_op *op = sb_create(c->client, &options, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    const sb_event *event = sb_op_next_event(op);
    assert_string_equal(event->output.data, "hi");
    event = sb_op_next_event(op);
    assert_int_equal(event->output.stream, SB_STDERR);
    assert_string_equal(event->output.data, "oh");
    assert_null(sb_op_next_event(op));
    assert_null(sb_op_command(op));
    sb_box *box = sb_op_take_box(op);
    assert_null(sb_op_take_box(op));
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "\"args\":[\"-l\",\"-c\",\"echo 'a\\\"b'\"]"), 1);
    assert_int_equal(server_count(c->server, "Host: 49983-i123.stepbox"), 2);
    assert_int_equal(server_count(c->server, "Content-Type: application/connect+json"), 2);
    assert_int_equal(kills(c), 0);
    sb_box_free(box);
    assert_true(server_saw(c->server, "DELETE /sandboxes/i123 "));
}

static void a_setup_that_fails_kills_the_sandbox(void **state) {
    struct connection *c = *state;
    const char *setup[] = {"false", "never"};
    sb_create_options options = {.setup = setup, .setup_count = 2};
    add_setup_answer(c,
                     (const char *[]){STARTED,
                                      "0{\"event\":{\"data\":{\"stderr\":\"bm8KYmFkCg==\"}}}",
                                      FAILED, "2{}", NULL},
                     true, ANSWER_KEEP);
    sb_op *op = sb_create(c->client, &options, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), -1);
    assert_int_equal(c->error.code, SB_SETUP_FAILED);
    assert_string_equal(c->error.message, "create: setup: \"false\" exited with 3: bad");
    assert_null(sb_op_take_box(op));
    assert_string_equal(sb_op_command(op)->command, "false");
    assert_int_equal(sb_op_command(op)->exit_code, 3);
    assert_string_equal(sb_op_command(op)->err, "no\nbad\n");
    assert_int_equal(kills(c), 1);
    sb_op_free(op);
    sb_loop_step(c->loop, 0.05, NULL);
    assert_int_equal(kills(c), 1);
    assert_int_equal(server_count(c->server, "Process/Start"), 1);
}

static void a_setup_that_a_signal_ends_says_so(void **state) {
    struct connection *c = *state;
    const char *setup[] = {"kill -9 $$"};
    sb_create_options options = {.setup = setup, .setup_count = 1};
    add_setup_answer(c,
                     (const char *[]){STARTED,
                                      "0{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: "
                                      "killed\",\"error\":\"signal: killed\"}}}",
                                      "2{}", NULL},
                     true, ANSWER_KEEP);
    assert_null(create(c, &options));
    assert_int_equal(c->error.code, SB_SETUP_FAILED);
    assert_string_equal(c->error.message, "create: setup: \"kill -9 $$\" ended by signal: killed");
}

static void a_setup_without_its_end_is_no_success(void **state) {
    struct connection *c = *state;
    const char *setup[] = {"x"};
    sb_create_options options = {.setup = setup, .setup_count = 1, .disown = true};
    const struct {
        const char *messages[4];
        bool is_whole;
        enum answer_way way;
        sb_code code;
    } cases[] = {
        {{STARTED, NULL}, false, ANSWER_CLOSE, SB_SANDBOX_LOST},
        {{STARTED, "2{}", NULL}, true, ANSWER_KEEP, SB_PROTOCOL},
        {{"2{\"error\":{\"code\":\"not_found\",\"message\":\"no user\"}}", NULL},
         true,
         ANSWER_KEEP,
         SB_NOT_FOUND},
        {{"0garbage", NULL}, true, ANSWER_KEEP, SB_PROTOCOL},
        {{"1{}", NULL}, true, ANSWER_KEEP, SB_PROTOCOL},
        {{"0{\"event\":{\"data\":{\"stdout\":\"*\"}}}", NULL}, true, ANSWER_KEEP, SB_PROTOCOL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        add_setup_answer(c, cases[i].messages, cases[i].is_whole, cases[i].way);
        sb_op *op = sb_create(c->client, &options, &c->error);
        assert_int_equal(sb_op_wait(op, &c->error), -1);
        assert_string_equal(sb_code_name(c->error.code), sb_code_name(cases[i].code));
        assert_null(sb_op_command(op));
        sb_op_free(op);
        assert_int_equal(kills(c), i + 1);
    }
}

static void a_cancelled_create_kills_what_it_made(void **state) {
    struct connection *c = *state;
    const char *setup[] = {"x"};
    sb_create_options options = {.setup = setup, .setup_count = 1};
    server_add(c->server, START, "", ANSWER_HOLD);
    sb_op *op = sb_create(c->client, &options, &c->error);
    while (server_count(c->server, "Process/Start") == 0) {
        sb_loop_step(c->loop, 0.01, NULL);
    }
    sb_op_cancel(op);
    assert_true(server_saw(c->server, "DELETE /sandboxes/i123 "));
    sb_op_free(op);
    /* So does one whose box nobody took. */
    op = sb_create(c->client, NULL, &c->error);
    assert_int_equal(sb_op_wait(op, NULL), 0);
    sb_op_free(op);
    for (int i = 0; i < 500 && kills(c) < 2; i++) {
        server_pause();
    }
    assert_int_equal(kills(c), 2);
}

static void bad_answers_to_create_make_no_box(void **state) {
    struct connection *c = *state;
    static const struct {
        const char *status, *body;
        sb_code code;
    } cases[] = {
        {"201 Created", "<html>", SB_PROTOCOL},
        {"201 Created", "", SB_PROTOCOL},
        {"201 Created", "[]", SB_PROTOCOL},
        {"201 Created", "{\"sandboxID\": \"a/b\"}", SB_PROTOCOL},
        {"201 Created", "{\"sandboxID\": \"a\", \"domain\": \"x/y\"}", SB_PROTOCOL},
        {"201 Created", "{\"sandboxID\": \"a\", \"envdAccessToken\": \"a\\r\\nb\"}", SB_PROTOCOL},
        {"400 Bad Request", "{\"message\": \"timeout: too long\"}", SB_INVALID},
        {"500 Internal Server Error", "", SB_UNAVAILABLE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        server_add_reply(c->server, "POST /v2/sandboxes ", cases[i].status, "", cases[i].body);
        assert_null(create(c, NULL));
        assert_string_equal(sb_code_name(c->error.code), sb_code_name(cases[i].code));
    }
}

/* The key in the nth request to create a sandbox. */
static const char *key_of(struct connection *c, size_t nth, char key[300]) {
    key[0] = '\0';
    pthread_mutex_lock(&c->server->lock);
    for (size_t i = 0; i < c->server->request_count; i++) {
        const char *request = c->server->requests[i];
        if (strncmp(request, "POST /v2/sandboxes ", 19) == 0 && nth-- == 0) {
            const char *line = strstr(request, "Idempotency-Key: ");
            if (line != NULL) {
                sscanf(line, "Idempotency-Key: %299[^\r]", key);
            }
            break;
        }
    }
    pthread_mutex_unlock(&c->server->lock);
    return key;
}

static void a_create_whose_connection_breaks_is_sent_again_once_under_its_key(void **state) {
    struct connection *c = *state;
    char first[300], second[300];
    server_add(c->server, "POST /v2/sandboxes ", "", ANSWER_RESET);
    sb_box *box = create(c, NULL);
    assert_non_null(box);
    assert_int_equal(strlen(key_of(c, 0, first)), strlen("stepbox-") + 32);
    assert_string_equal(first, key_of(c, 1, second));
    sb_box_free(box);
    /* Another one has another key. */
    box = create(c, NULL);
    assert_string_not_equal(first, key_of(c, 2, second));
    sb_box_free(box);
    server_add(c->server, "POST /v2/sandboxes ", "", ANSWER_RESET);
    server_add(c->server, "POST /v2/sandboxes ", "HTTP/1.1 201 Cre", ANSWER_CLOSE);
    assert_null(create(c, NULL));
    assert_int_equal(server_count(c->server, "POST /v2/sandboxes "), 5);
    sb_create_options options = {.idempotency_key = "my-own"};
    box = create(c, &options);
    assert_string_equal(key_of(c, 5, first), "my-own");
    sb_box_free(box);
    options.idempotency_key = "a\r\nb";
    assert_null(sb_create(c->client, &options, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
}

static void a_server_is_sent_a_key_and_the_request_again_when_the_caller_says_so(void **state) {
    struct connection *c = *state;
    char key[300];
    server_add(c->server, "POST /v2/sandboxes ", "", ANSWER_RESET);
    assert_null(create(c, NULL));
    assert_string_equal(key_of(c, 0, key), "");
    assert_int_equal(server_count(c->server, "POST /v2/sandboxes "), 1);
    server_add(c->server, "POST /v2/sandboxes ", "", ANSWER_RESET);
    sb_create_options options = {.idempotency_key = "my-own"};
    sb_box *box = create(c, &options);
    assert_non_null(box);
    assert_string_equal(key_of(c, 1, key), "my-own");
    assert_string_equal(key_of(c, 2, key), "my-own");
    sb_box_free(box);
}

static void a_request_that_is_never_answered_times_out(void **state) {
    struct connection *c = *state;
    sb_create_options options = {.request_timeout = 0.2};
    double start = server_clock();
    server_add(c->server, "POST /v2/sandboxes ", "", ANSWER_HOLD);
    assert_null(create(c, &options));
    assert_int_equal(c->error.code, SB_TIMEOUT);
    assert_true(server_clock() - start < 5);
}

int main(void) {
    unset_variables();
    const struct CMUnitTest tests[] = {
        WITH(create_sends_what_is_given_and_nothing_else),
        WITH(bad_options_are_refused),
        WITH(setup_runs_in_order_and_shows_its_output),
        WITH(a_setup_that_fails_kills_the_sandbox),
        WITH(a_setup_that_a_signal_ends_says_so),
        WITH(a_setup_without_its_end_is_no_success),
        WITH(a_cancelled_create_kills_what_it_made),
        WITH(bad_answers_to_create_make_no_box),
        WITH(a_create_whose_connection_breaks_is_sent_again_once_under_its_key),
        WITH_TCP(a_server_is_sent_a_key_and_the_request_again_when_the_caller_says_so),
        WITH(a_request_that_is_never_answered_times_out),
        WITH_TCP(a_request_that_is_never_answered_times_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
