/* Commands that are left before they end, and processes that are followed. */
#include "command_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Steps the loop until the process's id is known. */
static void wait_for_pid(struct connection *c, sb_op *op) {
    while (sb_op_pid(op) == 0 && !sb_op_done(op)) {
        assert_int_equal(sb_loop_step(c->loop, 5, &c->error), 0);
    }
    assert_int_equal(sb_op_pid(op), 7);
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

static void a_command_is_killed_though_all_else_has_gone_by_then(void **state) {
    struct connection *c = *state;
    for (int is_known = 0; is_known < 2; is_known++) {
        struct connection own = {.server = c->server};
        own.loop = sb_loop_new(&own.error);
        own.client = connection_client(&own, 10);
        own.box = connection_box(&own, sb_connect(own.client, "i123", NULL, &own.error));
        add(c, (const char *[]){STARTED, NULL}, false, ANSWER_HOLD);
        sb_op *op = sb_command(own.box, "x", NULL, &own.error);
        if (is_known) {
            wait_for_pid(&own, op);
        }
        sb_box_free(own.box);
        sb_op_free(op);
        sb_client_free(own.client);
        sb_loop_free(own.loop);
        assert_int_equal(server_count(c->server, KILL_OF_7), is_known + 1);
    }
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
    assert_false(server_gets(c, SIGNAL));
}

static void a_detached_command_is_left_alone(void **state) {
    struct connection *c = *state;
    sb_command_options options = {.detached = true};
    add(c, (const char *[]){STARTED, NULL}, false, ANSWER_HOLD);
    sb_op *op = sb_command(c->box, "x", &options, &c->error);
    wait_for_pid(c, op);
    sb_op_free(op);
    assert_false(server_gets(c, SIGNAL));
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
    assert_false(server_gets(c, SIGNAL));
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

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TCP(a_cancelled_command_is_killed_where_the_server_does_not),
        WITH_TCP(a_command_cancelled_before_its_id_is_known_is_killed_later),
        WITH_TCP(a_command_is_killed_though_all_else_has_gone_by_then),
        WITH(the_local_engine_sees_to_its_commands_itself),
        WITH_TCP(a_detached_command_is_left_alone),
        WITH_TCP(a_command_whose_answer_is_rubbish_is_killed),
        WITH_TCP(a_kill_that_is_under_way_goes_with_the_loop),
        WITH_TCP(following_a_process_leaves_it_alone),
        WITH(a_process_that_is_not_there_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
