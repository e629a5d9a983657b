/* process_test.c - processes: starting them, and how they end. */
#include "process_fixture.h"

#include <dirent.h>
#include <linux/close_range.h>

static void runs_programs_and_tells_how_they_ended(void **state) {
    (void)state;
    struct outcome outcome = read_all(start_shell("", "printf hi; printf x >&2; exit 3", ""));
    assert_true(outcome.pid > 0);
    assert_string_equal(outcome.out, "hi");
    assert_string_equal(outcome.err, "x");
    assert_true(outcome.exited);
    assert_int_equal(outcome.exit_code, 3);
    assert_string_equal(outcome.status, "exit status 3");
    assert_string_equal(outcome.error, "");
    free_outcome(&outcome);
    outcome = read_all(start_shell("", "kill -9 $$", ""));
    assert_false(outcome.exited);
    assert_int_equal(outcome.exit_code, -1);
    assert_string_equal(outcome.status, "signal: killed");
    free_outcome(&outcome);
}

static void sends_events_as_the_protocol_has_them(void **state) {
    (void)state;
    static const char *const events[] = {
        "{\"event\": {\"data\": {\"stderr\": \"/+8=\"}}}",
        "{\"event\": {\"end\": {\"exitCode\": 0, \"exited\": true, \"status\": \"exit status "
        "0\"}}}",
        "{}",
    };
    struct stream stream = start_shell("", "printf '\\xff\\xef' >&2", "");
    read_pid(&stream);
    for (size_t i = 0; i < 3; i++) {
        json_t *message = next_message(&stream);
        char *text = json_dumps(message, 0);
        assert_string_equal(text, events[i]);
        free(text);
        json_decref(message);
    }
    assert_null(next_message(&stream));
    assert_false(stream.cut);
    close_stream(&stream);
    stream = start_shell("", "exit 2", "");
    struct outcome outcome = read_all(stream);
    assert_int_equal(outcome.events, 2);
    free_outcome(&outcome);
}

static void gives_variables_and_directories_as_they_are(void **state) {
    (void)state;
    char path[200];
    json_object_set_new(agent.envs, "FROM_INIT", json_string("1"));
    json_object_set_new(agent.envs, "BOTH", json_string("1"));
    expect_outcome(
        open_stream(
            "Start", "",
            "{\"process\":{\"cmd\":\"sh\",\"args\":[\"-c\",\"echo \\\"$A $FROM_INIT $BOTH\\\"\"],"
            "\"envs\":{\"A\":\"'$(x)\\\"\",\"BOTH\":\"2\"}}}"),
        "'$(x)\" 1 2\n", 0);
    expect_outcome(open_stream("Start", "", "{\"process\":{\"cmd\":\"pwd\",\"cwd\":\"/usr\"}}"),
                   "/usr\n", 0);
    in_directory(path, sizeof path, "below\n");
    char *newline = strchr(path, '\n');
    *newline = '\0';
    mkdir(path, 0755);
    *newline = '\n';
    expect_outcome(open_stream("Start", "", "{\"process\":{\"cmd\":\"pwd\",\"cwd\":\"below\"}}"),
                   path, 0);
    expect_outcome(open_stream("Start", "", "{\"process\":{\"cmd\":\"pwd\",\"cwd\":\"~/below\"}}"),
                   path, 0);
    snprintf(path, sizeof path, "%s\n", directory);
    expect_outcome(open_stream("Start", "", "{\"process\":{\"cmd\":\"pwd\"}}"), path, 0);
}

static void refuses_what_it_cannot_start(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"{\"process\":{\"cmd\":\"no-such-program\"}}", "not_found",
         "cannot run 'no-such-program': No such file or directory"},
        {"{\"process\":{\"cmd\":\"/\"}}", "invalid_argument", "cannot run '/': Permission denied"},
        {"{\"process\":{\"cmd\":\"ls\",\"cwd\":\"/no/such\"}}", "invalid_argument",
         "cannot enter the working directory '/no/such': No such file or directory"},
        {"{\"process\":{\"cmd\":\"ls\",\"cwd\":\"~other\"}}", "invalid_argument", NULL},
        {"{}", "invalid_argument", "process.cmd is missing"},
        {"{\"process\":{\"cmd\":\"\"}}", "invalid_argument", "process.cmd is missing"},
        {"{\"process\":[]}", "invalid_argument", "process must be an object"},
        {"{\"process\":{\"cmd\":1}}", "invalid_argument", "cmd must be a string without NUL"},
        {"{\"process\":{\"cmd\":\"a\\u0000b\"}}", "invalid_argument",
         "cmd must be a string without NUL"},
        {"{\"process\":{\"cmd\":\"ls\",\"args\":[1]}}", "invalid_argument",
         "process.args must be strings without NUL"},
        {"{\"process\":{\"cmd\":\"ls\",\"args\":{}}}", "invalid_argument",
         "process.args must be a list of strings"},
        {"{\"process\":{\"cmd\":\"ls\",\"envs\":[]}}", "invalid_argument",
         "process.envs must be an object of strings"},
        {"{\"process\":{\"cmd\":\"ls\",\"envs\":{\"A=\":\"\"}}}", "invalid_argument",
         "an environment variable's name cannot contain '='"},
        {"{\"process\":{\"cmd\":\"ls\"},\"stdin\":1}", "invalid_argument",
         "stdin must be true or false"},
        {"{\"process\":{\"cmd\":\"ls\"},\"tag\":1}", "invalid_argument",
         "tag must be a string without NUL"},
        {"{\"process\":{\"cmd\":\"ls\"},\"pty\":1}", "invalid_argument",
         "pty must be an object with a size"},
        {"{\"process\":{\"cmd\":\"ls\"},\"pty\":{\"size\":{\"cols\":65536}}}", "invalid_argument",
         "pty.size must have cols and rows between 1 and 65535"},
        {"{\"process\":{\"cmd\":\"ls\"},\"pty\":{\"size\":{\"rows\":-1}}}", "invalid_argument",
         "pty.size must have cols and rows between 1 and 65535"},
        {"[]", "invalid_argument", "the message is not an object"},
        {"{", "invalid_argument", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome outcome = read_all(open_stream("Start", "", cases[i][0]));
        if (strcmp(outcome.error, cases[i][1]) != 0)
            fail_msg("%s: '%s' %s", cases[i][0], outcome.error, outcome.message);
        if (cases[i][2])
            assert_string_equal(outcome.message, cases[i][2]);
        assert_string_not_equal(outcome.message, "");
        free_outcome(&outcome);
    }
    expect_error(
        open_stream("Start", "Connect-Timeout-Ms: soon\r\n", "{\"process\":{\"cmd\":\"true\"}}"),
        "invalid_argument", "Connect-Timeout-Ms must be a number of milliseconds");
    call("List", "{}", 200, "{\"processes\":[]}");
}

static void quotes_whole_characters_of_long_names(void **state) {
    (void)state;
    char message[1000] = "{\"process\":{\"cmd\":\"a";
    for (int i = 0; i < 200; i++)
        strcat(message, "\xc3\xa4");
    strcat(message, "\"}}");
    struct outcome outcome = read_all(open_stream("Start", "", message));
    assert_string_equal(outcome.error, "invalid_argument");
    assert_non_null(strstr(outcome.message, "\xc3\xa4': File name too long"));
    free_outcome(&outcome);
}

static void knows_its_users(void **state) {
    (void)state;
    expect_outcome(open_stream("Start", "Authorization: Basic dXNlcjo=\r\n",
                               "{\"process\":{\"cmd\":\"true\"}}"),
                   "", 0);
    struct outcome outcome = read_all(open_stream("Start", "Authorization: Basic bm9ib2R5Og==\r\n",
                                                  "{\"process\":{\"cmd\":\"true\"}}"));
    assert_string_equal(outcome.error, "unauthenticated");
    free_outcome(&outcome);
}

static void needs_the_access_token(void **state) {
    (void)state;
    static const char *const procedures[] = {"Start",      "Connect",   "List",
                                             "Update",     "SendInput", "StreamInput",
                                             "SendSignal", "CloseStdin"};
    struct client *client = connect_envd(&from_client);
    agent.access_token = strdup("t");
    for (size_t i = 0; i < sizeof procedures / sizeof *procedures; i++) {
        send_call(client, procedures[i], "{}");
        expect(client, 401,
               "{\"code\":\"unauthenticated\",\"message\":\"the access token is missing or "
               "wrong\"}");
    }
    disconnect(client);
}

static void does_not_wait_for_what_a_program_left_behind(void **state) {
    (void)state;
    char line[400];
    double began = now();
    snprintf(line, sizeof line, "(sleep 2; echo late; echo late; touch %s/late) & printf done",
             directory);
    expect_outcome(start_shell("", line, ""), "done", 0);
    assert_true(now() - began < 1.8);
    wait_for_file("late"); /* and it does not die of writing */
}

static void lets_a_process_outlive_who_started_it(void **state) {
    (void)state;
    char line[400];
    snprintf(line, sizeof line,
             "echo begun; sleep 0.3; head -c 300000 /dev/zero; touch %s/survived", directory);
    struct stream stream = start_shell("", line, "");
    struct outcome outcome = new_outcome();
    read_until(&stream, &outcome, "begun");
    close_stream(&stream);
    wait_for_file("survived"); /* though nobody reads what it writes */
    wait_until_dead(outcome.pid);
    free_outcome(&outcome);
}

static void kills_a_bound_process_with_all_it_started(void **state) {
    (void)state;
    char line[400];
    snprintf(line, sizeof line,
             "setsid sh -c 'echo $$ >%s/child; sleep 20' & echo begun; sleep 20 & wait", directory);
    struct stream stream = start_shell("Stepbox-Bound: 1\r\n", line, "");
    struct outcome outcome = new_outcome();
    read_until(&stream, &outcome, "begun");
    int child = read_number_file("child");
    struct stream other = follow_pid(outcome.pid, "");
    read_pid(&other);
    close_stream(&stream);
    struct outcome seen = read_all(other);
    assert_string_equal(seen.status, "signal: killed");
    wait_until_dead(outcome.pid);
    wait_until_dead(child);
    free_outcome(&outcome);
    free_outcome(&seen);
}

static void keeps_to_deadlines_and_sends_keepalives(void **state) {
    (void)state;
    double began = now();
    struct outcome outcome = read_all(start_shell(
        "Connect-Timeout-Ms: 1300\r\nKeepalive-Ping-Interval: 1\r\n", "sleep 20 & sleep 20", ""));
    assert_string_equal(outcome.error, "deadline_exceeded");
    assert_string_equal(outcome.message, "the command did not end in time and was killed");
    assert_int_equal(outcome.keepalives, 1);
    assert_false(outcome.has_end);
    assert_true(now() - began < 2.0);
    wait_until_dead(outcome.pid);
    free_outcome(&outcome);
}

static void keeps_to_a_deadline_when_the_starter_has_left(void **state) {
    (void)state;
    char line[200];
    snprintf(line, sizeof line, "setsid sleep 20 & echo $! >%s/child; sleep 20", directory);
    struct stream stream = start_shell("Connect-Timeout-Ms: 400\r\n", line, "");
    int pid = read_pid(&stream);
    close_stream(&stream);
    int child = read_number_file("child");
    struct stream other = follow_pid(pid, "");
    struct outcome outcome = read_all(other);
    assert_string_equal(outcome.error, "deadline_exceeded");
    free_outcome(&outcome);
    wait_until_dead(pid);
    wait_until_dead(child);
    /* And who asks later learns the same. */
    outcome = read_all(follow_pid(pid, ""));
    assert_string_equal(outcome.error, "deadline_exceeded");
    free_outcome(&outcome);
}

static void takes_a_timeout_of_zero_for_none(void **state) {
    (void)state;
    expect_outcome(start_shell("Connect-Timeout-Ms: 0\r\n", "sleep 0.1; echo fine", ""), "fine\n",
                   0);
}

static void streams_large_output_to_a_slow_reader(void **state) {
    (void)state;
    struct stream stream = start_shell("", "head -c 9000000 /dev/zero; echo end >&2", "");
    usleep(300000); /* the process waits for us */
    struct outcome outcome = read_all(stream);
    assert_int_equal(outcome.out_length, 9000000);
    assert_string_equal(outcome.err, "end\n");
    assert_int_equal(outcome.exit_code, 0);
    free_outcome(&outcome);
}

static void signals_a_process(void **state) {
    (void)state;
    static const char *const signals[][2] = {
        {"\"SIGNAL_SIGTERM\"", "TERM\n"}, {"15", "TERM\n"}, {"\"15\"", "TERM\n"},
        {"\"SIGNAL_SIGINT\"", "INT\n"},   {"1", "HUP\n"},
    };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char body[200];
        struct stream stream =
            start_shell("",
                        "for s in TERM INT HUP; do trap \"echo $s; exit\" $s; done; echo ready; "
                        "while :; do sleep 0.02; done",
                        "");
        struct outcome outcome = new_outcome();
        read_until(&stream, &outcome, "ready\n");
        snprintf(body, sizeof body, "{\"process\":{\"pid\":%d},\"signal\":%s}", outcome.pid,
                 signals[i][0]);
        call("SendSignal", body, 200, "{}");
        read_rest(&stream, &outcome);
        assert_string_equal(outcome.out + 6, signals[i][1]);
        free_outcome(&outcome);
    }
}

static void kills_the_whole_tree_for_sigkill(void **state) {
    (void)state;
    char line[200];
    snprintf(line, sizeof line, "setsid sleep 20 & echo $! >%s/child; sleep 20", directory);
    struct stream stream = start_shell("", line, ",\"tag\":\"it\"");
    int pid = read_pid(&stream), child = read_number_file("child");
    call("SendSignal", "{\"process\":{\"tag\":\"it\"},\"signal\":\"SIGNAL_SIGKILL\"}", 200, "{}");
    struct outcome outcome = read_all(stream);
    assert_string_equal(outcome.status, "signal: killed");
    wait_until_dead(pid);
    wait_until_dead(child);
    free_outcome(&outcome);
    call("SendSignal", "{\"process\":{\"tag\":\"it\"},\"signal\":9}", 404,
         "{\"code\":\"not_found\",\"message\":\"process with tag it not found\"}");
}

static void refuses_rubbish_for_signals_and_selectors(void **state) {
    (void)state;
    static const char no_signal[] = "signal must be a number from 1 to 64 or a name such as "
                                    "SIGNAL_SIGTERM";
    static const char *const values[] = {"0",
                                         "65",
                                         "-1",
                                         "\"SIGNAL_UNSPECIFIED\"",
                                         "null",
                                         "1.5",
                                         "\"SIGTERM\"",
                                         "\"SIGNAL_SIGNOPE\"",
                                         "true",
                                         "\"\"",
                                         "99999999999999999999",
                                         "{}"};
    static const char *const selectors[][2] = {
        {"{}", "process must have a pid or a tag"},
        {"{\"process\":{}}", "process must have a pid or a tag"},
        {"{\"process\":[]}", "process must have a pid or a tag"},
        {"{\"process\":{\"pid\":1,\"tag\":\"x\"}}", "process must have a pid or a tag"},
        {"{\"process\":{\"pid\":-1}}", "process.pid must be a process's id"},
        {"{\"process\":{\"pid\":4294967296}}", "process.pid must be a process's id"},
        {"{\"process\":{\"pid\":\"x\"}}", "process.pid must be a process's id"},
        {"{\"process\":{\"tag\":5}}", "process.tag must be a string without NUL"},
        {"{\"process\":{\"tag\":\"a\\u0000\"}}", "process.tag must be a string without NUL"},
    };
    struct stream stream = start_shell("Stepbox-Bound: 1\r\n", "sleep 20", "");
    int pid = read_pid(&stream);
    char body[300], expected[300];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct client *client = connect_envd(&from_client);
        snprintf(body, sizeof body, "{\"process\":{\"pid\":%d},\"signal\":%s}", pid, values[i]);
        send_call(client, "SendSignal", body);
        struct answer answer = read_answer(client, false);
        if (answer.status != 400)
            fail_msg("%s: %d %s", body, answer.status, answer.body);
        if (i != 10) /* jansson refuses that one itself */
            assert_non_null(strstr(answer.body, no_signal));
        free(answer.body);
        disconnect(client);
    }
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        snprintf(expected, sizeof expected, "{\"code\":\"invalid_argument\",\"message\":\"%s\"}",
                 selectors[i][1]);
        call("CloseStdin", selectors[i][0], 400, expected);
        expect_error(open_stream("Connect", "", selectors[i][0]), "invalid_argument",
                     selectors[i][1]);
    }
    call_pid("SendSignal", 0, 404,
             "{\"code\":\"not_found\",\"message\":\"process with pid 0 not found\"}");
    call("Update", "[]", 400,
         "{\"code\":\"invalid_argument\",\"message\":\"the message is not an object\"}");
    assert_true(is_alive(pid));
    close_stream(&stream);
}

static void lists_what_runs(void **state) {
    (void)state;
    char expected[500];
    call("List", "{}", 200, "{\"processes\":[]}");
    struct stream one = open_stream("Start", "Stepbox-Bound: 1\r\n",
                                    "{\"process\":{\"cmd\":\"sleep\",\"args\":[\"20\"],\"cwd\":"
                                    "\"/\",\"envs\":{\"A\":\"1\"}},\"tag\":\"t\"}");
    int first = read_pid(&one);
    struct stream two =
        open_stream("Start", "Stepbox-Bound: 1\r\n", "{\"process\":{\"cmd\":\"cat\"}}");
    int second = read_pid(&two);
    snprintf(expected, sizeof expected,
             "{\"processes\":[{\"config\":{\"cmd\":\"cat\"},\"pid\":%d},{\"config\":{\"cmd\":"
             "\"sleep\",\"cwd\":\"/\",\"args\":[\"20\"],\"envs\":{\"A\":\"1\"}},\"pid\":%d,\"tag\":"
             "\"t\"}]}",
             second, first);
    call("List", "{}", 200, expected);
    close_stream(&one);
    close_stream(&two);
    wait_until_dead(first);
    wait_until_dead(second);
    usleep(20000);
    call("List", "{}", 200, "{\"processes\":[]}");
}

static int count_descriptors(void) {
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

static void leaves_no_descriptor_behind(void **state) {
    (void)state;
    static const char *const fields[] = {"", ",\"stdin\":false", ",\"pty\":{}"};
    static const char *const lines[] = {"exit 1", "echo x", "sleep 0.01 & true"};
    int before = 0;
    for (int i = 0; i < 303; i++) {
        struct outcome outcome = read_all(start_shell("", lines[i % 3], fields[i / 3 % 3]));
        assert_true(outcome.has_end);
        free_outcome(&outcome);
        outcome = read_all(open_stream("Start", "", "{\"process\":{\"cmd\":\"/no/such\"}}"));
        free_outcome(&outcome);
        if (i == 2)
            before = count_descriptors();
    }
    int after = count_descriptors();
    for (int i = 0; i < 100 && after > before; i++) {
        usleep(10000);
        after = count_descriptors();
    }
    assert_true(after <= before);
}

static void gives_programs_no_descriptor_of_its_own(void **state) {
    (void)state;
    struct stream one = start_shell("Stepbox-Bound: 1\r\n", "sleep 20", ",\"pty\":{}");
    read_pid(&one);
    struct outcome outcome = read_all(start_shell("", "ls /proc/self/fd", ""));
    assert_string_equal(outcome.out, "0\n1\n2\n3\n"); /* 3 is what ls reads */
    free_outcome(&outcome);
    outcome = read_all(start_shell("", "ls -x /proc/self/fd", ",\"pty\":{}"));
    assert_string_equal(outcome.pty, "0  1  2  3\r\n");
    free_outcome(&outcome);
    close_stream(&one);
}

int main(void) {
    /* What this program itself was given. */
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(runs_programs_and_tells_how_they_ended),
        PROCESS_TEST(sends_events_as_the_protocol_has_them),
        PROCESS_TEST(gives_variables_and_directories_as_they_are),
        PROCESS_TEST(refuses_what_it_cannot_start),
        PROCESS_TEST(quotes_whole_characters_of_long_names),
        PROCESS_TEST(knows_its_users),
        PROCESS_TEST(needs_the_access_token),
        PROCESS_TEST(does_not_wait_for_what_a_program_left_behind),
        PROCESS_TEST(lets_a_process_outlive_who_started_it),
        PROCESS_TEST(kills_a_bound_process_with_all_it_started),
        PROCESS_TEST(keeps_to_deadlines_and_sends_keepalives),
        PROCESS_TEST(keeps_to_a_deadline_when_the_starter_has_left),
        PROCESS_TEST(takes_a_timeout_of_zero_for_none),
        PROCESS_TEST(streams_large_output_to_a_slow_reader),
        PROCESS_TEST(signals_a_process),
        PROCESS_TEST(kills_the_whole_tree_for_sigkill),
        PROCESS_TEST(refuses_rubbish_for_signals_and_selectors),
        PROCESS_TEST(lists_what_runs),
        PROCESS_TEST(leaves_no_descriptor_behind),
        PROCESS_TEST(gives_programs_no_descriptor_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
