/* process_connect_test.c - following a process: from another connection, several at once, late. */
#include "process_fixture.h"

static void answers_with_output_from_now_on_and_the_end(void **state) {
    (void)state;
    char line[300];
    snprintf(line, sizeof line, "echo before; until [ -e %s/go ]; do sleep 0.01; done; echo after",
             directory);
    struct stream first = start_shell("", line, ",\"tag\":\"the tag\"");
    struct outcome outcome = new_outcome();
    read_until(&first, &outcome, "before\n");
    struct stream by_pid = follow_pid(outcome.pid, ""), by_tag = follow_tag("the tag");
    assert_int_equal(read_pid(&by_pid), outcome.pid);
    assert_int_equal(read_pid(&by_tag), outcome.pid);
    write_file("go", "");
    expect_outcome(by_pid, "after\n", 0);
    expect_outcome(by_tag, "after\n", 0);
    read_rest(&first, &outcome);
    assert_string_equal(outcome.out, "before\nafter\n");
    free_outcome(&outcome);
}

static void sends_keepalives_and_keeps_to_its_own_deadline(void **state) {
    (void)state;
    struct stream first = start_shell("", "sleep 2; echo fine", "");
    int pid = read_pid(&first);
    struct outcome outcome =
        read_all(follow_pid(pid, "Connect-Timeout-Ms: 1200\r\nKeepalive-Ping-Interval: 1\r\n"));
    assert_int_equal(outcome.keepalives, 1);
    assert_string_equal(outcome.error, "deadline_exceeded");
    free_outcome(&outcome);
    expect_outcome(first, "fine\n", 0); /* the process has no part in it */
}

static void leaves_the_process_alone_when_it_goes_away(void **state) {
    (void)state;
    struct stream first = start_shell("", "read line; echo \"$line\"", "");
    int pid = read_pid(&first);
    struct stream other = follow_pid(pid, "Stepbox-Bound: 1\r\n");
    read_pid(&other);
    close_stream(&other);
    usleep(50000);
    send_input(pid, "stdin", "still here\n");
    expect_outcome(first, "still here\n", 0);
}

static void tells_a_late_client_how_a_process_ended(void **state) {
    (void)state;
    struct outcome outcome = read_all(start_shell("", "echo x; exit 7", ",\"tag\":\"late\""));
    for (int i = 0; i < 2; i++) {
        struct outcome late = read_all(i ? follow_tag("late") : follow_pid(outcome.pid, ""));
        assert_int_equal(late.pid, outcome.pid);
        assert_int_equal(late.exit_code, 7);
        assert_true(late.has_end && late.exited);
        assert_string_equal(late.out, "");
        free_outcome(&late);
    }
    free_outcome(&outcome);
    /* Another one with the tag takes its place, and its end the other's. */
    struct stream second = start_shell("", "read x; exit 8", ",\"tag\":\"late\"");
    int pid = read_pid(&second);
    struct stream by_tag = follow_tag("late");
    assert_int_equal(read_pid(&by_tag), pid);
    call_pid("CloseStdin", pid, 200, "{}");
    expect_outcome(second, "", 8);
    expect_outcome(by_tag, "", 8);
    expect_outcome(follow_tag("late"), "", 8);
}

static void keeps_no_more_ends_than_it_says(void **state) {
    (void)state;
    struct process_table *table = process_table_new(&agent);
    process_table_free(table);
    struct outcome first = read_all(start_shell("", "exit 1", ",\"tag\":\"first\""));
    struct outcome second = read_all(start_shell("", "exit 2", ",\"tag\":\"second\""));
    /* Each of these takes the tag of the one before, but its own place. */
    for (int i = 0; i < PROCESS_ENDS_MAX - 1; i++)
        expect_outcome(
            open_stream("Start", "",
                        "{\"process\":{\"cmd\":\"true\"},\"stdin\":false,\"tag\":\"t\"}"),
            "", 0);
    expect_error(follow_tag("first"), "not_found", "process with tag first not found");
    expect_outcome(follow_tag("second"), "", 2);
    expect_outcome(follow_tag("t"), "", 0);
    free_outcome(&first);
    free_outcome(&second);
}

static void names_what_it_does_not_find(void **state) {
    (void)state;
    expect_error(follow_pid(1, ""), "not_found", "process with pid 1 not found");
    expect_error(follow_tag("nope"), "not_found", "process with tag nope not found");
    call("SendInput", "{\"process\":{\"tag\":\"nope\"},\"input\":{\"stdin\":\"\"}}", 404,
         "{\"code\":\"not_found\",\"message\":\"process with tag nope not found\"}");
}

static void gives_everything_to_each(void **state) {
    (void)state;
    struct stream streams[4];
    struct outcome outcome;
    /* 3 MB, so that each of them lags for a time. */
    streams[0] = start_shell("", "read x; head -c 3000000 /dev/zero | tr '\\0' x; exit 4", "");
    int pid = read_pid(&streams[0]);
    for (int i = 1; i < 4; i++) {
        streams[i] = follow_pid(pid, "");
        read_pid(&streams[i]);
    }
    send_input(pid, "stdin", "\n");
    json_t *message;
    size_t lengths[4] = {0};
    /* In turns: nobody reads far ahead of the others. */
    for (int open = 4; open > 0;) {
        for (int i = 0; i < 4; i++) {
            if (!streams[i].client || !(message = next_message(&streams[i])))
                continue;
            outcome = new_outcome();
            take_message(&outcome, message, streams[i].ended);
            json_decref(message);
            lengths[i] += outcome.out_length;
            if (outcome.has_end)
                assert_int_equal(outcome.exit_code, 4);
            assert_string_equal(outcome.error, "");
            free_outcome(&outcome);
            if (streams[i].ended) {
                close_stream(&streams[i]);
                open--;
            }
        }
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(lengths[i], 3000000);
}

static void cuts_who_does_not_read_while_others_do(void **state) {
    (void)state;
    process_table_set_lag(agent.processes, 0.3);
    struct stream reader = start_shell("", "read x; head -c 5000000 /dev/zero; echo end >&2", "");
    int pid = read_pid(&reader);
    struct stream sleeper = follow_pid(pid, "");
    read_pid(&sleeper);
    double began = now();
    send_input(pid, "stdin", "\n");
    struct outcome outcome = read_all(reader);
    assert_int_equal(outcome.out_length, 5000000);
    assert_string_equal(outcome.err, "end\n");
    assert_int_equal(outcome.exit_code, 0);
    assert_true(now() - began >= 0.3);
    free_outcome(&outcome);
    outcome = read_all(sleeper);
    assert_string_equal(outcome.error, "resource_exhausted");
    assert_string_equal(outcome.message, "the client reads too slowly, and others wait for it");
    assert_true(outcome.out_length > 100000 && outcome.out_length < 2000000);
    free_outcome(&outcome);
}

static void waits_for_the_only_reader(void **state) {
    (void)state;
    process_table_set_lag(agent.processes, 0.1);
    struct stream reader = start_shell("", "head -c 3000000 /dev/zero", "");
    int pid = read_pid(&reader);
    usleep(500000);
    assert_true(is_alive(pid)); /* it has not been able to write it all */
    struct outcome outcome = read_all(reader);
    assert_int_equal(outcome.out_length, 3000000);
    assert_string_equal(outcome.error, "");
    free_outcome(&outcome);
}

static void goes_on_when_the_one_it_waited_for_leaves(void **state) {
    (void)state;
    struct stream reader = start_shell("", "read x; head -c 3000000 /dev/zero", "");
    int pid = read_pid(&reader);
    struct stream sleeper = follow_pid(pid, "");
    read_pid(&sleeper);
    send_input(pid, "stdin", "\n");
    usleep(100000);
    close_stream(&sleeper);
    double began = now();
    struct outcome outcome = read_all(reader);
    assert_int_equal(outcome.out_length, 3000000);
    assert_true(now() - began < 5.0);
    free_outcome(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(answers_with_output_from_now_on_and_the_end),
        PROCESS_TEST(sends_keepalives_and_keeps_to_its_own_deadline),
        PROCESS_TEST(leaves_the_process_alone_when_it_goes_away),
        PROCESS_TEST(tells_a_late_client_how_a_process_ended),
        PROCESS_TEST(keeps_no_more_ends_than_it_says),
        PROCESS_TEST(names_what_it_does_not_find),
        PROCESS_TEST(gives_everything_to_each),
        PROCESS_TEST(cuts_who_does_not_read_while_others_do),
        PROCESS_TEST(waits_for_the_only_reader),
        PROCESS_TEST(goes_on_when_the_one_it_waited_for_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
