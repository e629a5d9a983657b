/* process_terminal_test.c - processes on terminals. */
#include "process_fixture.h"

static void has_the_size_that_was_asked_for(void **state) {
    (void)state;
    static const char *const sizes[][2] = {
        {",\"pty\":{\"size\":{\"cols\":132,\"rows\":43}}", "43 132\r\n"},
        {",\"pty\":{\"size\":{\"cols\":0,\"rows\":0}}", "24 80\r\n"},
        {",\"pty\":{}", "24 80\r\n"},
        {",\"pty\":{\"size\":{\"cols\":65535,\"rows\":1}}", "1 65535\r\n"},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct outcome outcome = read_all(start_shell("", "stty size", sizes[i][0]));
        assert_string_equal(outcome.pty, sizes[i][1]);
        assert_string_equal(outcome.out, "");
        assert_string_equal(outcome.err, "");
        assert_int_equal(outcome.exit_code, 0);
        free_outcome(&outcome);
    }
}

static void is_the_controlling_terminal(void **state) {
    (void)state;
    struct outcome outcome = read_all(
        start_shell("",
                    "tty; echo out >&2; tty </dev/tty; ps -o tpgid= -p $$ | grep -qw $$ && "
                    "echo foreground",
                    ",\"pty\":{}"));
    assert_ptr_equal(strstr(outcome.pty, "/dev/pts/"), outcome.pty);
    assert_non_null(strstr(outcome.pty, "\r\nout\r\n/dev/"));
    assert_non_null(strstr(outcome.pty, "\r\nforeground\r\n"));
    free_outcome(&outcome);
}

static void has_settings_that_variables_override(void **state) {
    (void)state;
    struct outcome outcome =
        read_all(start_shell("", "echo $TERM $LANG; stty -a | grep -wo iutf8", ",\"pty\":{}"));
    assert_string_equal(outcome.pty, "xterm-256color C.UTF-8\r\niutf8\r\n");
    free_outcome(&outcome);
    json_object_set_new(agent.envs, "LANG", json_string("C"));
    outcome = read_all(open_stream("Start", "",
                                   "{\"process\":{\"cmd\":\"sh\",\"args\":[\"-c\",\"echo $TERM "
                                   "$LANG\"],\"envs\":{\"TERM\":\"dumb\"}},\"pty\":{}}"));
    assert_string_equal(outcome.pty, "dumb C\r\n");
    free_outcome(&outcome);
}

static void takes_input_and_echoes_it(void **state) {
    (void)state;
    struct stream stream = start_shell("", "read line; echo \"got $line\"", ",\"pty\":{}");
    int pid = read_pid(&stream);
    send_input(pid, "pty", "h\xc3\xa4\x7fi\n"); /* an erased character is a whole one */
    struct outcome outcome = read_all(stream);
    assert_non_null(strstr(outcome.pty, "got hi\r\n"));
    assert_int_equal(outcome.exit_code, 0);
    free_outcome(&outcome);
}

static void turns_control_characters_into_signals_and_ends(void **state) {
    (void)state;
    struct stream stream = start_shell("",
                                       "trap 'echo interrupted; exit 3' INT; echo ready; "
                                       "while :; do sleep 0.02; done",
                                       ",\"pty\":{}");
    struct outcome outcome = new_outcome();
    read_until(&stream, &outcome, "ready");
    send_input(outcome.pid, "pty", "\x03");
    read_rest(&stream, &outcome);
    assert_non_null(strstr(outcome.pty, "interrupted\r\n"));
    assert_int_equal(outcome.exit_code, 3);
    free_outcome(&outcome);
    stream = start_shell("", "cat", ",\"pty\":{}");
    int pid = read_pid(&stream);
    send_input(pid, "pty", "x\n\x04");
    outcome = read_all(stream);
    assert_string_equal(outcome.pty, "x\r\nx\r\n");
    assert_int_equal(outcome.exit_code, 0);
    free_outcome(&outcome);
}

static void is_resized(void **state) {
    (void)state;
    char body[200];
    struct stream stream = start_shell("",
                                       "trap 'stty size; exit' WINCH; echo ready; "
                                       "while :; do sleep 0.02; done",
                                       ",\"pty\":{},\"tag\":\"t\"");
    struct outcome outcome = new_outcome();
    read_until(&stream, &outcome, "ready");
    snprintf(body, sizeof body,
             "{\"process\":{\"pid\":%d},\"pty\":{\"size\":{\"cols\":70000,\"rows\":20}}}",
             outcome.pid);
    call("Update", body, 400,
         "{\"code\":\"invalid_argument\",\"message\":\"pty.size must have cols and rows between 1 "
         "and 65535\"}");
    call("Update", "{\"process\":{\"tag\":\"t\"}}", 200, "{}"); /* of nothing */
    call("Update", "{\"process\":{\"tag\":\"t\"},\"pty\":{\"size\":{\"cols\":90,\"rows\":20}}}",
         200, "{}");
    read_rest(&stream, &outcome);
    assert_string_equal(outcome.pty, "ready\r\n20 90\r\n");
    free_outcome(&outcome);
}

static void refuses_what_is_for_pipes(void **state) {
    (void)state;
    char expected[300];
    struct stream stream = start_shell("Stepbox-Bound: 1\r\n", "sleep 20", ",\"pty\":{}");
    int pid = read_pid(&stream);
    char *message = input_message(pid, "stdin", "x", 1);
    snprintf(
        expected, sizeof expected,
        "{\"code\":\"invalid_argument\",\"message\":\"process with pid %d is on a terminal: its "
        "input goes to pty, not to stdin\"}",
        pid);
    call("SendInput", message, 400, expected);
    free(message);
    snprintf(
        expected, sizeof expected,
        "{\"code\":\"failed_precondition\",\"message\":\"process with pid %d is on a terminal, "
        "whose input ends by sending it the byte 0x04\"}",
        pid);
    call_pid("CloseStdin", pid, 400, expected);
    close_stream(&stream);

    stream = start_shell("Stepbox-Bound: 1\r\n", "sleep 20", "");
    pid = read_pid(&stream);
    char body[200];
    snprintf(body, sizeof body, "{\"process\":{\"pid\":%d},\"pty\":{}}", pid);
    snprintf(expected, sizeof expected,
             "{\"code\":\"invalid_argument\",\"message\":\"process with pid %d has no terminal\"}",
             pid);
    call("Update", body, 400, expected);
    close_stream(&stream);
}

static void ends_with_its_leader(void **state) {
    (void)state;
    char line[200];
    double began = now();
    snprintf(line, sizeof line,
             "trap '' HUP; (sleep 2; echo late; touch %s/late) & echo done; exit 6", directory);
    struct outcome outcome = read_all(start_shell("", line, ",\"pty\":{}"));
    assert_string_equal(outcome.pty, "done\r\n");
    assert_int_equal(outcome.exit_code, 6);
    assert_true(now() - began < 1.8);
    free_outcome(&outcome);
    wait_for_file("late");
}

static void waits_for_the_exit_of_who_closed_it(void **state) {
    (void)state;
    /* Closing the terminal too early would hang up on it; and it may be opened again. */
    struct outcome outcome = read_all(
        start_shell("", "exec <&- >&- 2>&-; sleep 0.3; echo again >/dev/tty; exec 2>&-; exit 4",
                    ",\"pty\":{}"));
    assert_string_equal(outcome.pty, "again\r\n");
    assert_string_equal(outcome.status, "exit status 4");
    free_outcome(&outcome);
    for (int i = 0; i < 50; i++) {
        struct stream stream =
            open_stream("Start", "", "{\"process\":{\"cmd\":\"cat\"},\"pty\":{}}");
        send_input(read_pid(&stream), "pty", "\x04");
        outcome = read_all(stream);
        assert_string_equal(outcome.status, "exit status 0");
        free_outcome(&outcome);
    }
}

static void passes_a_lot_both_ways(void **state) {
    (void)state;
    /* Raw, so that nothing is translated or taken as a line. */
    struct stream stream = start_shell("",
                                       "stty raw -echo; echo ready; head -c 2000000 | cksum; "
                                       "head -c 2000000 /dev/zero",
                                       ",\"pty\":{}");
    struct outcome outcome = new_outcome();
    read_until(&stream, &outcome, "ready\n");
    char *bytes = malloc(1000000);
    memset(bytes, 'y', 1000000);
    for (int i = 0; i < 2; i++) {
        char *message = input_message(outcome.pid, "pty", bytes, 1000000);
        call("SendInput", message, 200, "{}");
        free(message);
    }
    read_rest(&stream, &outcome);
    assert_non_null(strstr(outcome.pty, " 2000000\n"));
    assert_true(outcome.pty_length > 2000000);
    free_outcome(&outcome);
    free(bytes);
}

static void is_an_interactive_shell_s(void **state) {
    (void)state;
    struct stream stream = open_stream(
        "Start", "",
        "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"--norc\",\"-i\"],\"envs\":{\"PS1\":"
        "\"$ \"}},\"pty\":{\"size\":{\"cols\":80,\"rows\":24}}}");
    struct outcome outcome = new_outcome();
    read_until(&stream, &outcome, "$ ");
    assert_null(strstr(outcome.pty, "no job control"));
    send_input(outcome.pid, "pty", "sleep 20\n");
    usleep(200000);
    send_input(outcome.pid, "pty", "\x03");
    send_input(outcome.pid, "pty", "echo $((6*7))\n");
    read_until(&stream, &outcome, "42\r\n");
    send_input(outcome.pid, "pty", "exit 9\n");
    read_rest(&stream, &outcome);
    assert_int_equal(outcome.exit_code, 9);
    free_outcome(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(has_the_size_that_was_asked_for),
        PROCESS_TEST(is_the_controlling_terminal),
        PROCESS_TEST(has_settings_that_variables_override),
        PROCESS_TEST(takes_input_and_echoes_it),
        PROCESS_TEST(turns_control_characters_into_signals_and_ends),
        PROCESS_TEST(is_resized),
        PROCESS_TEST(refuses_what_is_for_pipes),
        PROCESS_TEST(ends_with_its_leader),
        PROCESS_TEST(waits_for_the_exit_of_who_closed_it),
        PROCESS_TEST(passes_a_lot_both_ways),
        PROCESS_TEST(is_an_interactive_shell_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
