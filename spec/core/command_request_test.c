/* What starting a command sends, and what is refused before anything is sent. */
#include "command_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

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
    const struct CMUnitTest tests[] = {
        WITH(options_travel_as_data),
        WITH(a_program_may_have_no_arguments),
        WITH(a_detached_command_has_no_deadline_of_its_own),
        WITH(a_terminal_gets_a_shell_and_its_environment),
        WITH(misuse_is_told_at_once),
        WITH(a_new_server_is_not_told_who_its_default_user_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
