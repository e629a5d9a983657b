/* Commands and connections to processes: what is sent, and what each way of ending gives. */
#include "connect_messages.h"
#include "connection.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define START "POST /process.Process/Start"
#define CONNECT "POST /process.Process/Connect"
#define SIGNAL "POST /process.Process/SendSignal"
#define OUT(base64) "0{\"event\":{\"data\":{\"stdout\":\"" base64 "\"}}}"
#define DONE STARTED, EXITED, "2{}", NULL

static void add(struct connection *c, const char *const *messages, bool is_whole,
                enum answer_way way) {
    server_add_messages(c->server, START, messages, is_whole, way);
}

static sb_op *run(struct connection *c, const char *command, const sb_command_options *options) {
    c->error = (sb_error){0};
    sb_op *op = sb_command(c->box, command, options, &c->error);
    if (op != NULL) {
        sb_op_wait(op, &c->error);
    }
    return op;
}

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

static void options_travel_as_data(void **state) {
    struct connection *c = *state;
    const char *args[] = {"a b", "'$x\"", ""};
    sb_pair envs[] = {{"A", "'; \n\\"}};
    sb_command_options options = {.args = args,
                                  .arg_count = 3,
                                  .cwd = "/tmp/a b",
                                  .user = "root",
                                  .tag = "t",
                                  .envs = envs,
                                  .env_count = 1,
                                  .timeout = 0.0301,
                                  .open_stdin = true,
                                  .detached = true};
    add(c, (const char *[]){DONE}, true, ANSWER_KEEP);
    sb_op_free(run(c, "prog", &options));
    assert_int_equal(server_count(c->server,
                                  "{\"process\":{\"cmd\":\"prog\",\"cwd\":\"/tmp/a b\",\"args\":"
                                  "[\"a b\",\"'$x\\\"\",\"\"],\"envs\":{\"A\":\"'; \\n\\\\\"}},"
                                  "\"tag\":\"t\",\"stdin\":true}"),
                     1);
    assert_int_equal(server_count(c->server, "Authorization: Basic cm9vdDo=\r\n"), 1);
    assert_int_equal(server_count(c->server, "Connect-Timeout-Ms: 31\r\n"), 1);
    assert_int_equal(server_count(c->server, "Stepbox-Bound"), 0);
}

static void a_program_may_have_no_arguments(void **state) {
    struct connection *c = *state;
    const char *none[] = {NULL};
    sb_command_options options = {.args = none};
    add(c, (const char *[]){DONE}, true, ANSWER_KEEP);
    sb_op_free(run(c, "a b", &options));
    assert_int_equal(server_count(c->server, "\"cmd\":\"a b\",\"args\":[]"), 1);
}

static void a_detached_command_has_no_deadline_of_its_own(void **state) {
    struct connection *c = *state;
    sb_command_options detached = {.detached = true}, endless = {.timeout = INFINITY};
    add(c, (const char *[]){DONE}, true, ANSWER_KEEP);
    add(c, (const char *[]){DONE}, true, ANSWER_KEEP);
    sb_op_free(run(c, "x", &detached));
    sb_op_free(run(c, "x", &endless));
    assert_int_equal(c->error.code, SB_OK);
    assert_int_equal(server_count(c->server, START), 2);
    assert_int_equal(server_count(c->server, "Connect-Timeout-Ms"), 0);
}

static void a_terminal_gets_a_shell_and_its_environment(void **state) {
    struct connection *c = *state;
    sb_pair envs[] = {{"LANG", "de_DE.UTF-8"}};
    sb_command_options options = {.cols = 80, .rows = 24, .envs = envs, .env_count = 1};
    add(c,
        (const char *[]){STARTED, "0{\"event\":{\"data\":{\"pty\":\"JCA=\"}}}", EXITED, "2{}",
                         NULL},
        true, ANSWER_KEEP);
    sb_op *op = run(c, NULL, &options);
    assert_string_equal(sb_op_command(op)->out, "$ ");
    sb_op_free(op);
    assert_int_equal(server_count(c->server,
                                  "\"cmd\":\"/bin/bash\",\"args\":[\"-i\",\"-l\"],\"envs\":"
                                  "{\"LANG\":\"de_DE.UTF-8\",\"TERM\":\"xterm-256color\","
                                  "\"LC_ALL\":\"C.UTF-8\"}},"
                                  "\"pty\":{\"size\":{\"cols\":80,\"rows\":24}}}"),
                     1);
    add(c, (const char *[]){DONE}, true, ANSWER_KEEP);
    sb_op_free(run(c, "top", &options));
    assert_int_equal(server_count(c->server, "[\"-l\",\"-c\",\"top\"]"), 1);
}

static void misuse_is_told_at_once(void **state) {
    struct connection *c = *state;
    const char *args[] = {"\xff"}, *hole[] = {NULL};
    sb_pair envs[] = {{"A", "\xff"}};
    const struct {
        const char *command;
        sb_command_options options;
        const char *message;
    } cases[] = {
        {NULL, {0}, "command: is NULL"},
        {"\xff", {0}, "command: is not UTF-8"},
        {"\xff", {.args = args}, "cmd: is not UTF-8"},
        {"", {.args = args}, "command: is empty, args need a program"},
        {NULL, {.args = args, .cols = 1, .rows = 1}, "command: is NULL"},
        {"x", {.args = args, .arg_count = 1}, "args: number 1 is not UTF-8"},
        {"x", {.args = hole, .arg_count = 1}, "args: number 1 is not UTF-8"},
        {"x", {.envs = envs, .env_count = 1}, "envs: A is not UTF-8"},
        {"x", {.cwd = "\xff"}, "cwd: is not UTF-8"},
        {"x", {.cwd = ""}, "cwd: is empty"},
        {"x", {.tag = "\xff"}, "tag: is not UTF-8"},
        {"x", {.tag = ""}, "tag: is empty"},
        {"x", {.user = ""}, "user: not a user's name"},
        {"x", {.user = "a:b"}, "user: not a user's name"},
        {"x", {.timeout = -1}, "timeout: must be more than 0 seconds"},
        {"x", {.timeout = NAN}, "timeout: must be more than 0 seconds"},
        {"x", {.cols = 80}, "rows: must be from 1 to 65535"},
        {"x", {.cols = 65536, .rows = 1}, "cols: must be from 1 to 65535"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(sb_command(c->box, cases[i].command, &cases[i].options, &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
        assert_string_equal(c->error.message, cases[i].message);
    }
    assert_int_equal(server_count(c->server, "/process"), 0);
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
    sb_command_options options = {.timeout = 0.001};
    add(c,
        (const char *[]){STARTED, OUT("YQ=="),
                         "2{\"error\":{\"code\":\"deadline_exceeded\",\"message\":\"x\"}}", NULL},
        true, ANSWER_KEEP);
    sb_op *op = run(c, "x", &options);
    assert_int_equal(c->error.code, SB_TIMEOUT);
    assert_string_equal(c->error.message, "command: it did not end within 0.001 s");
    assert_string_equal(sb_op_command(op)->out, "a");
    sb_op_free(op);
    /* A server's kill at the deadline comes first at times. */
    options.timeout = 1e-6;
    add(c, (const char *[]){STARTED, KILLED, "2{}", NULL}, true, ANSWER_KEEP);
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

/* Steps the loop until the process's id is known. */
static void wait_for_pid(struct connection *c, sb_op *op) {
    while (sb_op_pid(op) == 0 && !sb_op_done(op)) {
        assert_int_equal(sb_loop_step(c->loop, 5, &c->error), 0);
    }
    assert_int_equal(sb_op_pid(op), 7);
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

/* Steps the loop until the server has got that, or for half a second. */
static bool server_gets(struct connection *c, const char *text) {
    for (int i = 0; i < 50 && server_count(c->server, text) == 0; i++) {
        sb_loop_step(c->loop, 0.01, NULL);
    }
    return server_count(c->server, text) > 0;
}

#define KILL_OF_7 "{\"process\":{\"pid\":7},\"signal\":\"SIGNAL_SIGKILL\"}"

static void a_cancelled_command_is_killed_where_the_server_does_not(void **state) {
    struct connection *c = *state;
    add(c, (const char *[]){STARTED, OUT("YQ=="), NULL}, false, ANSWER_HOLD);
    sb_op *op = sb_command(c->box, "x", NULL, &c->error);
    wait_for_pid(c, op);
    sb_op_cancel(op);
    assert_int_equal(sb_op_error(op, NULL), SB_CANCELLED);
    assert_string_equal(sb_op_command(op)->out, "a");
    sb_op_free(op);
    assert_true(server_gets(c, KILL_OF_7));
}

static void a_command_cancelled_before_its_id_is_known_is_killed_later(void **state) {
    struct connection *c = *state;
    add(c, (const char *[]){STARTED, NULL}, false, ANSWER_HOLD);
    sb_op_free(sb_command(c->box, "x", NULL, &c->error));
    assert_true(server_gets(c, KILL_OF_7));
    /* Not one that has ended by then, */
    add(c, (const char *[]){DONE}, true, ANSWER_KEEP);
    sb_op_free(sb_command(c->box, "x", NULL, &c->error));
    for (int i = 0; i < 10; i++) {
        sb_loop_step(c->loop, 0.01, NULL);
    }
    assert_int_equal(server_count(c->server, SIGNAL), 1);
    /* and one that never says anything holds nobody up. */
    server_add(c->server, START, "", ANSWER_HOLD);
    sb_op_free(sb_command(c->box, "x", NULL, &c->error));
}

static void the_local_engine_sees_to_its_commands_itself(void **state) {
    struct connection *c = *state;
    add(c, (const char *[]){STARTED, NULL}, false, ANSWER_HOLD);
    sb_op *op = sb_command(c->box, "x", NULL, &c->error);
    wait_for_pid(c, op);
    sb_op_free(op);
    for (int i = 0; i < 500 && server_hung_up(c->server) == 0; i++) {
        server_pause();
    }
    /* The connection was closed, which is what ends it. */
    assert_int_equal(server_hung_up(c->server), 1);
    sb_loop_step(c->loop, 0.05, NULL);
    assert_int_equal(server_count(c->server, SIGNAL), 0);
}

static void a_detached_command_is_left_alone(void **state) {
    struct connection *c = *state;
    sb_command_options options = {.detached = true};
    add(c, (const char *[]){STARTED, NULL}, false, ANSWER_HOLD);
    sb_op *op = sb_command(c->box, "x", &options, &c->error);
    wait_for_pid(c, op);
    sb_op_free(op);
    sb_loop_step(c->loop, 0.05, NULL);
    assert_int_equal(server_count(c->server, SIGNAL), 0);
}

static void a_command_whose_answer_is_rubbish_is_killed(void **state) {
    struct connection *c = *state;
    add(c, (const char *[]){STARTED, "0rubbish", NULL}, false, ANSWER_HOLD);
    sb_op *op = run(c, "x", NULL);
    assert_int_equal(c->error.code, SB_PROTOCOL);
    sb_op_free(op);
    assert_true(server_gets(c, KILL_OF_7));
}

static void a_kill_that_is_under_way_goes_with_the_loop(void **state) {
    struct connection *c = *state;
    add(c, (const char *[]){STARTED, NULL}, false, ANSWER_HOLD);
    server_add(c->server, SIGNAL, "", ANSWER_HOLD);
    sb_op *op = sb_command(c->box, "x", NULL, &c->error);
    wait_for_pid(c, op);
    sb_op_free(op);
    assert_true(server_gets(c, KILL_OF_7));
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

static void following_a_process_leaves_it_alone(void **state) {
    struct connection *c = *state;
    const sb_process by_pid = {.pid = 7}, by_tag = {.pid = 9, .tag = "a\"b"};
    server_add_messages(c->server, CONNECT,
                        (const char *[]){STARTED, OUT("YQ=="), FAILED, "2{}", NULL}, true,
                        ANSWER_KEEP);
    sb_op *op = sb_process_connect(c->box, &by_pid, NULL, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_int_equal(sb_op_command(op)->exit_code, 3);
    assert_null(sb_op_command(op)->command);
    assert_string_equal(sb_op_command(op)->out, "a");
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "{\"process\":{\"pid\":7}}"), 1);
    sb_process_connect_options options = {.timeout = 0.1};
    server_add_messages(c->server, CONNECT, (const char *[]){STARTED, NULL}, false, ANSWER_HOLD);
    op = sb_process_connect(c->box, &by_tag, &options, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), -1);
    assert_int_equal(c->error.code, SB_TIMEOUT);
    assert_string_equal(c->error.message, "connect to a process: it did not end within 0.1 s");
    assert_int_equal(sb_op_pid(op), 7);
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "{\"process\":{\"tag\":\"a\\\"b\"}}"), 1);
    sb_loop_step(c->loop, 0.05, NULL);
    assert_int_equal(server_count(c->server, SIGNAL), 0);
    assert_int_equal(server_count(c->server, "Connect-Timeout-Ms"), 0);
    assert_int_equal(server_count(c->server, "Stepbox-Bound"), 0);
}

static void a_process_that_is_not_there_is_gone(void **state) {
    struct connection *c = *state;
    const sb_process process = {.pid = 7};
    server_add_messages(
        c->server, CONNECT,
        (const char *[]){"2{\"error\":{\"code\":\"not_found\",\"message\":\"no 7\"}}", NULL}, true,
        ANSWER_KEEP);
    assert_int_equal(connection_end(c, sb_process_connect(c->box, &process, NULL, &c->error)),
                     SB_PROCESS_GONE);
    server_add_reply(c->server, CONNECT, "502 Bad Gateway", "", "{\"sandboxId\":\"i123\"}");
    assert_int_equal(connection_end(c, sb_process_connect(c->box, &process, NULL, &c->error)),
                     SB_SANDBOX_LOST);
    const sb_process bad[] = {{0}, {.pid = -1}, {.pid = INT64_C(1) << 32}, {.tag = ""}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(sb_process_connect(c->box, &bad[i], NULL, &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
    }
    assert_null(sb_process_connect(c->box, NULL, NULL, &c->error));
    sb_process_connect_options negative = {.timeout = -1};
    assert_null(sb_process_connect(c->box, &process, &negative, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
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

static void a_new_server_is_not_told_who_its_default_user_is(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, "POST /v2/sandboxes/i9/connect", "200 OK", "",
                     "{\"sandboxID\":\"i9\",\"envdVersion\":\"0.4.0\"}");
    sb_box *box = connection_box(c, sb_connect(c->client, "i9", NULL, &c->error));
    add(c, (const char *[]){DONE}, true, ANSWER_KEEP);
    assert_int_equal(connection_end(c, sb_command(box, "x", NULL, &c->error)), SB_OK);
    assert_int_equal(server_count(c->server, "Authorization"), 0);
    sb_command_options options = {.user = "user"};
    add(c, (const char *[]){DONE}, true, ANSWER_KEEP);
    assert_int_equal(connection_end(c, sb_command(box, "x", &options, &c->error)), SB_OK);
    assert_int_equal(server_count(c->server, "Authorization: Basic dXNlcjo="), 1);
    sb_box_free(box);
}

int main(void) {
#define WITH(test) cmocka_unit_test_setup_teardown(test, connection_set_up, connection_tear_down)
#define WITH_TCP(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, connection_set_up_tcp, connection_tear_down)
    const struct CMUnitTest tests[] = {
        WITH(a_command_gives_output_and_exit_code),
        WITH(options_travel_as_data),
        WITH(a_program_may_have_no_arguments),
        WITH(a_detached_command_has_no_deadline_of_its_own),
        WITH(a_terminal_gets_a_shell_and_its_environment),
        WITH(misuse_is_told_at_once),
        WITH(a_stream_that_is_cut_is_no_success),
        WITH_TCP(a_stream_that_is_cut_is_no_success),
        WITH(the_commands_end_is_enough_whatever_follows),
        WITH(errors_become_codes),
        WITH_TCP(errors_become_codes),
        WITH(the_servers_word_that_the_time_is_over_is_a_timeout),
        WITH_TCP(the_servers_word_that_the_time_is_over_is_a_timeout),
        WITH(a_command_may_take_longer_than_a_request),
        WITH(the_process_id_is_news),
        WITH_TCP(a_cancelled_command_is_killed_where_the_server_does_not),
        WITH_TCP(a_command_cancelled_before_its_id_is_known_is_killed_later),
        WITH(the_local_engine_sees_to_its_commands_itself),
        WITH_TCP(a_detached_command_is_left_alone),
        WITH_TCP(a_command_whose_answer_is_rubbish_is_killed),
        WITH_TCP(a_kill_that_is_under_way_goes_with_the_loop),
        WITH(a_reader_of_events_gets_all_and_holds_the_rest_back),
        WITH_TCP(a_reader_of_events_gets_all_and_holds_the_rest_back),
        WITH_TCP(following_a_process_leaves_it_alone),
        WITH(a_process_that_is_not_there_is_gone),
        WITH(a_closed_box_says_so),
        WITH(a_new_server_is_not_told_who_its_default_user_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
