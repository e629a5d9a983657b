/* The life of sandboxes: create with setup, connect, list, ownership, kill by the reaper, at exit,
 * forks. */
#include "connect_messages.h"
#include "connection.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <cmocka.h>

#define START "POST /process.Process/Start"

/* Gives a thread that was left behind the time to find its server gone. */
static int tear_down_and_wait(void **state) {
    connection_free(*state);
    for (int i = 0; i < 100; i++) {
        server_pause();
    }
    return 0;
}

static size_t kills(struct connection *c) {
    return server_count(c->server, "DELETE /sandboxes/i123 ");
}

static sb_box *create(struct connection *c, const sb_create_options *options) {
    return connection_box(c, sb_create(c->client, options, &c->error));
}

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
    assert_true(server_clock() - start < 1);
}

static void connect_leaves_the_life_alone_unless_asked(void **state) {
    struct connection *c = *state;
    assert_int_equal(server_count(c->server, "POST /v2/sandboxes/i123/connect "), 1);
    assert_int_equal(server_count(c->server, "\r\n\r\n{}"), 1);
    assert_false(sb_box_owns(c->box));
    sb_connect_options options = {.timeout = 59.5, .own = true};
    sb_box *box = connection_box(c, sb_connect(c->client, "i123", &options, &c->error));
    assert_int_equal(server_count(c->server, "\r\n\r\n{\"timeout\":60}"), 1);
    assert_int_equal(server_count(c->server, "PUT /sandboxes/i123/lease "), 1);
    assert_true(sb_box_owns(box));
    sb_box_free(box);
    server_add_reply(c->server, "POST /v2/sandboxes/i9/", "404 Not Found", "",
                     "{\"message\": \"no sandbox i9\"}");
    assert_null(connection_box(c, sb_connect(c->client, "i9", NULL, &c->error)));
    assert_int_equal(c->error.code, SB_NOT_FOUND);
    assert_string_equal(c->error.message, "connect: HTTP 404: no sandbox i9");
}

/* What the control plane does not find is this box's sandbox, unless it is the call itself. */
static void a_sandbox_that_is_gone_is_lost_to_its_box(void **state) {
    struct connection *c = *state;
    const char *gone = "{\"code\": 404, \"message\": \"sandbox \\\"i123\\\" not found\"}";
    const char *no_call = "{\"code\": 404, \"message\": \"no matching operation was found\"}";
    server_add_reply(c->server, "GET /sandboxes/i123 ", "404 Not Found", "", gone);
    assert_int_equal(connection_end(c, sb_box_info(c->box, &c->error)), SB_SANDBOX_LOST);
    server_add_reply(c->server, "POST /sandboxes/i123/timeout ", "404 Not Found", "", gone);
    assert_int_equal(connection_end(c, sb_box_set_timeout(c->box, 5, &c->error)), SB_SANDBOX_LOST);
    server_add_reply(c->server, "POST /sandboxes/i123/pause ", "404 Not Found", "", gone);
    assert_int_equal(connection_end(c, sb_box_pause(c->box, &c->error)), SB_SANDBOX_LOST);
    server_add_reply(c->server, "POST /sandboxes/i123/snapshots ", "404 Not Found", "", no_call);
    assert_int_equal(connection_end(c, sb_box_snapshot(c->box, NULL, &c->error)), SB_UNSUPPORTED);
    server_add_reply(c->server, "POST /sandboxes/i123/snapshots ", "507 Insufficient Storage", "",
                     "{\"code\": 507, \"message\": \"no room\"}");
    assert_int_equal(connection_end(c, sb_box_snapshot(c->box, NULL, &c->error)), SB_NO_SPACE);
    server_add_reply(c->server, "DELETE /sandboxes/i123 ", "404 Not Found", "", gone);
    assert_int_equal(connection_end(c, sb_box_kill(c->box, &c->error)), SB_NOT_FOUND);
}

static void a_paused_one_can_be_left_so(void **state) {
    struct connection *c = *state;
    int connected = server_count(c->server, "/connect ");
    server_add_reply(c->server, "GET /sandboxes/i7 ", "200 OK", "",
                     "{\"sandboxID\": \"i7\", \"envdVersion\": \"0.5.0\", \"domain\": null}");
    sb_connect_options options = {.leave_paused = true};
    sb_box *box = connection_box(c, sb_connect(c->client, "i7", &options, &c->error));
    assert_string_equal(sb_box_id(box), "i7");
    assert_false(sb_box_owns(box));
    assert_int_equal(server_count(c->server, "/connect "), connected);
    sb_box_free(box);
    options.timeout = 5;
    assert_null(sb_connect(c->client, "i7", &options, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
}

static void ownership_is_given_up_and_taken(void **state) {
    struct connection *c = *state;
    sb_box *box = create(c, NULL);
    assert_int_equal(connection_end(c, sb_box_detach(box, &c->error)), SB_OK);
    assert_false(sb_box_owns(box));
    assert_int_equal(server_count(c->server, "DELETE /sandboxes/i123/lease "), 1);
    assert_int_equal(connection_end(c, sb_box_own(box, &c->error)), SB_OK);
    assert_true(sb_box_owns(box));
    server_add_reply(c->server, "DELETE /sandboxes/i123/lease", "500 Oops", "", "");
    assert_int_equal(connection_end(c, sb_box_detach(box, &c->error)), SB_UNAVAILABLE);
    assert_true(sb_box_owns(box));
    assert_int_equal(connection_end(c, sb_box_detach(box, &c->error)), SB_OK);
    sb_box_free(box);
    assert_int_equal(kills(c), 0);
}

static void remote_ownership_is_the_clients_own_affair(void **state) {
    struct connection *c = *state;
    sb_box *box = create(c, NULL);
    assert_int_equal(server_count(c->server, "Stepbox-Lease"), 0);
    assert_int_equal(connection_end(c, sb_box_detach(box, &c->error)), SB_OK);
    assert_int_equal(connection_end(c, sb_box_own(box, &c->error)), SB_OK);
    assert_true(sb_box_owns(box));
    assert_int_equal(server_count(c->server, "/lease"), 0);
    sb_box_free(box);
    assert_true(server_saw(c->server, "DELETE /sandboxes/i123 "));
}

static void freeing_an_owning_box_is_quick_and_kills(void **state) {
    struct connection *c = *state;
    double longest = 0;
    for (int i = 0; i < 10; i++) {
        sb_box *box = create(c, NULL);
        double start = server_clock();
        sb_box_free(box);
        double took = server_clock() - start;
        longest = took > longest ? took : longest;
    }
    sb_box_free(c->box);
    c->box = NULL;
    sb_client_free(c->client);
    c->client = NULL;
    sb_loop_free(c->loop);
    c->loop = sb_loop_new(NULL);
    assert_int_equal(kills(c), 10);
    print_message("longest sb_box_free(): %.0f us\n", longest * 1e6);
}

static void a_kill_that_fails_is_tried_again(void **state) {
    struct connection *c = *state;
    sb_box *box = create(c, NULL);
    server_add_reply(c->server, "DELETE", "503 Busy", "", "");
    server_add(c->server, "DELETE", "", ANSWER_CLOSE);
    sb_box_free(box);
    for (int i = 0; i < 500 && kills(c) < 3; i++) {
        server_pause();
    }
    assert_int_equal(kills(c), 3);
}

static void the_end_of_a_loop_waits_no_more_than_five_seconds(void **state) {
    struct connection *c = *state;
    sb_box *box = create(c, NULL);
    for (int i = 0; i < 3; i++) {
        server_add(c->server, "DELETE", "", ANSWER_HOLD);
    }
    sb_box_free(box);
    sb_box_free(c->box);
    c->box = NULL;
    sb_client_free(c->client);
    c->client = NULL;
    double start = server_clock();
    sb_loop_free(c->loop);
    assert_true(server_clock() - start < 5.6);
    c->loop = sb_loop_new(NULL);
}

static void kill_tells_when_there_is_none(void **state) {
    struct connection *c = *state;
    assert_int_equal(connection_end(c, sb_kill(c->client, "i123", &c->error)), SB_OK);
    server_add_reply(c->server, "DELETE", "404 Not Found", "", "");
    assert_int_equal(connection_end(c, sb_kill(c->client, "i123", &c->error)), SB_NOT_FOUND);
    sb_box *box = create(c, NULL);
    sb_op *op = sb_box_kill(box, &c->error);
    sb_box_free(box); /* while the kill is under way: it stays the only one */
    assert_int_equal(connection_end(c, op), SB_OK);
    assert_int_equal(kills(c), 3);
}

static void lists_are_filtered_and_paged(void **state) {
    struct connection *c = *state;
    sb_pair metadata[] = {{"user", "a b"}, {"x&", "1=2"}};
    const char *states[] = {"running", "paused"};
    sb_list_options options = {.metadata = metadata,
                               .metadata_count = 2,
                               .states = states,
                               .state_count = 2,
                               .limit = 5,
                               .next_token = "a+b"};
    server_add_reply(c->server, "GET /v2/sandboxes?", "200 OK", "X-Next-Token: more=\r\n",
                     "[{\"sandboxID\": \"i1\", \"templateID\": \"t\", \"state\": \"running\", "
                     "\"startedAt\": \"2026-11-30T08:01:30Z\", \"cpuCount\": 2, \"alias\": null, "
                     "\"metadata\": {\"user\": \"a b\"}}, {\"sandboxID\": \"i2\"}]");
    sb_op *op = sb_list(c->client, &options, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_int_equal(sb_op_info_count(op), 2);
    const sb_info *info = sb_op_info(op, 0);
    assert_string_equal(info->id, "i1");
    assert_string_equal(info->state, "running");
    assert_null(info->alias);
    assert_int_equal(info->cpu_count, 2);
    assert_true(info->started_at == 1796025690.0);
    assert_string_equal(info->metadata[0].value, "a b");
    assert_string_equal(sb_op_next_token(op), "more=");
    assert_null(sb_op_info(op, 2));
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "metadata=user%3Da%252520b%26x%252526%3D1%25253D2&"
                                             "state=running,paused&limit=5&nextToken=a%2Bb "),
                     1);
    op = sb_list(c->client, NULL, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_null(sb_op_next_token(op));
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "GET /v2/sandboxes HTTP"), 1);
    server_add_reply(c->server, "GET /v2", "200 OK", "", "{\"no\": \"list\"}");
    assert_int_equal(connection_end(c, sb_list(c->client, NULL, &c->error)), SB_PROTOCOL);
}

static void calls_of_a_box_answer(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, "GET /sandboxes/i123 ", "200 OK", "",
                     "{\"sandboxID\": \"i123\", \"endAt\": \"1970-01-01T00:01:00Z\"}");
    sb_op *op = sb_box_info(c->box, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_true(sb_op_info(op, 0)->end_at == 60);
    sb_op_free(op);
    assert_int_equal(connection_end(c, sb_box_set_timeout(c->box, 0.5, &c->error)), SB_OK);
    assert_int_equal(server_count(c->server, "{\"timeout\":1}"), 1);
    op = sb_box_is_running(c->box, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_true(sb_op_flag(op));
    sb_op_free(op);
    server_add_reply(c->server, "GET /health", "502 Bad Gateway", "",
                     "{\"sandboxId\": \"i123\", \"message\": \"The sandbox was not found\"}");
    op = sb_box_is_running(c->box, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_false(sb_op_flag(op));
    sb_op_free(op);
}

/* Runs fn in a forked child, lets that exit through its handlers, and returns what fn did. A leak
 * checker may have a word with the exit status, since a child inherits what it must not free. */
static int in_child(struct connection *c, int (*fn)(struct connection *)) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        unsigned char result = (unsigned char)fn(c);
        exit(write(ends[1], &result, 1) == 1 ? 0 : 1);
    }
    unsigned char result;
    assert_int_equal(read(ends[0], &result, 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    close(ends[0]);
    close(ends[1]);
    return result;
}

static sb_box *inherited;
static sb_op *inherited_op;

static int use_in_child(struct connection *c) {
    sb_error error = {0};
    int wrong = sb_step(inherited, "x", 1, NULL, &error) != NULL || error.code != SB_INVALID;
    wrong |= sb_loop_step(c->loop, 0, &error) == 0 || sb_create(c->client, NULL, NULL) != NULL;
    wrong |= sb_op_wait(inherited_op, &error) == 0 || error.code != SB_INVALID;
    wrong |= strstr(error.message, "another process") == NULL;
    sb_op_cancel(inherited_op);
    sb_op_free(inherited_op);
    sb_box_free(inherited);
    sb_box_free(c->box);
    sb_client_free(c->client);
    sb_loop_free(c->loop);
    return wrong ? 1 : 0;
}

static void a_fork_leaves_the_parents_sandbox_and_step_alone(void **state) {
    struct connection *c = *state;
    inherited = create(c, NULL);
    server_add_stream(c->server, "POST /execute", "{\"type\": \"stdout\", \"text\": \"a\"}\n",
                      false, ANSWER_HOLD);
    sb_step_options options = {.events = true, .timeout = 0.5};
    inherited_op = sb_step(inherited, "x", 1, &options, &c->error);
    while (sb_op_next_event(inherited_op) == NULL) {
        sb_loop_step(c->loop, 1, NULL);
    }
    assert_int_equal(in_child(c, use_in_child), 0);
    assert_int_equal(kills(c), 0);
    assert_int_equal(server_hung_up(c->server), 0);
    /* The parent goes on as if nothing had been. */
    assert_int_equal(connection_end(c, inherited_op), SB_TIMEOUT);
    server_add_stream(c->server, "POST /execute", "{\"type\": \"end_of_execution\"}\n", true,
                      ANSWER_KEEP);
    assert_int_equal(connection_end(c, sb_step(inherited, "x", 1, NULL, &c->error)), SB_OK);
    sb_box_free(inherited);
    assert_true(server_saw(c->server, "DELETE /sandboxes/i123 "));
}

static int own_in_child(struct connection *c) {
    static struct connection child;
    child = *c;
    child.loop = sb_loop_new(NULL);
    child.client = connection_client(&child, 5);
    child.box = create(&child, NULL); /* owned to the end */
    return child.box != NULL ? 0 : 1;
}

static int do_nothing(struct connection *c) {
    (void)c;
    return 0;
}

static void a_process_that_ends_kills_what_it_owns_remotely(void **state) {
    struct connection *c = *state;
    assert_int_equal(in_child(c, own_in_child), 0);
    assert_int_equal(kills(c), 1);
    /* Held up, it ends within two seconds. */
    server_add(c->server, "DELETE", "", ANSWER_HOLD);
    double start = server_clock();
    assert_int_equal(in_child(c, own_in_child), 0);
    assert_true(server_clock() - start < 2.6);
    /* A child does not kill what its parent owns. */
    sb_box *box = create(c, NULL);
    size_t before = kills(c);
    in_child(c, do_nothing);
    assert_int_equal(kills(c), before);
    assert_int_equal(connection_end(c, sb_box_kill(box, &c->error)), SB_OK);
    sb_box_free(box);
    assert_int_equal(kills(c), before + 1);
}

static void clients_are_local_or_not(void **state) {
    struct connection *c = *state;
    const sb_client_options good = {.domain = "e2b.example"},
                            both = {.socket = "/tmp/x", .api_key = "k"},
                            url = {.api_url = "ftp://x"}, domain = {.domain = "a/b"},
                            key = {.api_key = "a\nb"};
    char long_path[200] = "/";
    memset(long_path + 1, 'x', 150);
    const sb_client_options too_long = {.socket = long_path};
    sb_client *client = sb_client_new(c->loop, NULL, &c->error);
    assert_true(sb_client_is_local(client));
    sb_client_free(client);
    client = sb_client_new(c->loop, &good, &c->error);
    assert_false(sb_client_is_local(client));
    sb_client_free(client);
    const sb_client_options *bad[] = {&both, &url, &domain, &key, &too_long};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(sb_client_new(c->loop, bad[i], &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
    }
    setenv("E2B_API_KEY", "k", 1);
    client = sb_client_new(c->loop, NULL, &c->error);
    assert_false(sb_client_is_local(client));
    sb_client_free(client);
    const sb_client_options local = {.socket = "/tmp/x"};
    client = sb_client_new(c->loop, &local, &c->error);
    assert_true(sb_client_is_local(client));
    sb_client_free(client);
    unsetenv("E2B_API_KEY");
}

int main(void) {
    static const char *const variables[] = {"E2B_API_KEY",     "E2B_DOMAIN",     "E2B_API_URL",
                                            "E2B_SANDBOX_URL", "STEPBOX_SOCKET", "STEPBOX_ENGINE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        unsetenv(variables[i]);
    }
#define WITH(test) cmocka_unit_test_setup_teardown(test, connection_set_up, connection_tear_down)
#define WITH_TCP(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, connection_set_up_tcp, connection_tear_down)
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
        WITH(connect_leaves_the_life_alone_unless_asked),
        WITH(a_sandbox_that_is_gone_is_lost_to_its_box),
        WITH(a_paused_one_can_be_left_so),
        WITH(ownership_is_given_up_and_taken),
        WITH_TCP(remote_ownership_is_the_clients_own_affair),
        WITH(freeing_an_owning_box_is_quick_and_kills),
        WITH_TCP(a_kill_that_fails_is_tried_again),
        WITH(kill_tells_when_there_is_none),
        WITH(lists_are_filtered_and_paged),
        WITH(calls_of_a_box_answer),
        WITH(a_fork_leaves_the_parents_sandbox_and_step_alone),
        WITH_TCP(a_fork_leaves_the_parents_sandbox_and_step_alone),
        WITH_TCP(a_process_that_ends_kills_what_it_owns_remotely),
        WITH(clients_are_local_or_not),
        /* Last: what its thread leaves would be a leak in the children of forks. */
        cmocka_unit_test_setup_teardown(the_end_of_a_loop_waits_no_more_than_five_seconds,
                                        connection_set_up, tear_down_and_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
