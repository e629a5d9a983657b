/* ownership_test.c - who kills a sandbox, and when: its box, the reaper, the end of the process,
 * and not its forks. */
#include "box_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <cmocka.h>

/* Gives a thread that was left behind the time to find its server gone. */
static int tear_down_and_wait(void **state) {
    connection_free(*state);
    for (int i = 0; i < 100; i++) {
        server_pause();
    }
    return 0;
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
    assert_true(server_clock() - start < 4);
    /* A child does not kill what its parent owns. */
    sb_box *box = create(c, NULL);
    size_t before = kills(c);
    in_child(c, do_nothing);
    assert_int_equal(kills(c), before);
    assert_int_equal(connection_end(c, sb_box_kill(box, &c->error)), SB_OK);
    sb_box_free(box);
    assert_int_equal(kills(c), before + 1);
}

int main(void) {
    unset_variables();
    const struct CMUnitTest tests[] = {
        WITH(ownership_is_given_up_and_taken),
        WITH_TCP(remote_ownership_is_the_clients_own_affair),
        WITH(freeing_an_owning_box_is_quick_and_kills),
        WITH_TCP(a_kill_that_fails_is_tried_again),
        WITH(a_fork_leaves_the_parents_sandbox_and_step_alone),
        WITH_TCP(a_fork_leaves_the_parents_sandbox_and_step_alone),
        WITH_TCP(a_process_that_ends_kills_what_it_owns_remotely),
        /* Last: what its thread leaves would be a leak in the children of forks. */
        cmocka_unit_test_setup_teardown(the_end_of_a_loop_waits_no_more_than_five_seconds,
                                        connection_set_up, tear_down_and_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
