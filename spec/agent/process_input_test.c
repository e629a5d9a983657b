/* process_input_test.c - what processes read: SendInput and CloseStdin. */
#include "process_fixture.h"

static void is_open_unless_it_is_said_otherwise(void **state) {
    (void)state;
    struct stream stream = start_shell("", "cat", "");
    int pid = read_pid(&stream);
    send_input(pid, "stdin", "one ");
    send_input(pid, "stdin", "");
    send_input(pid, "stdin", "two");
    call_pid("CloseStdin", pid, 200, "{}");
    expect_outcome(stream, "one two", 0);
    expect_outcome(start_shell("", "cat; readlink /proc/self/fd/0", ",\"stdin\":false"),
                   "/dev/null\n", 0);
}

static void is_closed_once(void **state) {
    (void)state;
    char expected[200];
    struct stream stream = start_shell("", "cat; sleep 0.5", "");
    int pid = read_pid(&stream);
    call_pid("CloseStdin", pid, 200, "{}");
    call_pid("CloseStdin", pid, 200, "{}");
    char *message = input_message(pid, "stdin", "x", 1);
    snprintf(expected, sizeof expected,
             "{\"code\":\"failed_precondition\",\"message\":\"the stdin of process with pid %d is "
             "closed\"}",
             pid);
    call("SendInput", message, 400, expected);
    free(message);
    expect_outcome(stream, "", 0);
    stream = start_shell("", "sleep 0.3", ",\"stdin\":false");
    pid = read_pid(&stream);
    call_pid("CloseStdin", pid, 200, "{}");
    message = input_message(pid, "stdin", "x", 1);
    snprintf(expected, sizeof expected,
             "{\"code\":\"failed_precondition\",\"message\":\"the stdin of process with pid %d is "
             "closed\"}",
             pid);
    call("SendInput", message, 400, expected);
    free(message);
    expect_outcome(stream, "", 0);
}

static void takes_every_byte_in_order_and_at_the_process_s_pace(void **state) {
    (void)state;
    enum { PIECE = 1000000, PIECES = 10 };
    struct stream stream = start_shell("", "sleep 0.2; cat | cksum", "");
    int pid = read_pid(&stream);
    char *bytes = malloc(PIECE * PIECES), path[200], command[300];
    for (size_t i = 0; i < PIECE * PIECES; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    struct client *client = connect_envd(&from_client);
    double began = now();
    for (int i = 0; i < PIECES; i++) {
        char *message = input_message(pid, "stdin", bytes + i * PIECE, PIECE);
        send_call(client, "SendInput", message);
        free(message);
        expect(client, 200, "{}");
        if (i == 0) /* which is more than a pipe holds: it had to be read first */
            assert_true(now() - began > 0.1);
    }
    disconnect(client);
    call_pid("CloseStdin", pid, 200, "{}");
    struct outcome outcome = read_all(stream);
    in_directory(path, sizeof path, "bytes");
    FILE *file = fopen(path, "w");
    assert_int_equal(fwrite(bytes, 1, PIECE * PIECES, file), PIECE * PIECES);
    fclose(file);
    /* By the agent's means: its loop reaps every child of this program. */
    snprintf(command, sizeof command, "cksum <%s", path);
    expect_outcome(start_shell("", command, ""), outcome.out, 0);
    free_outcome(&outcome);
    free(bytes);
}

static void keeps_the_order_of_calls_that_wait(void **state) {
    (void)state;
    enum { CALLS = 20, SIZE = 50000 };
    struct client *clients[CALLS];
    struct stream stream = start_shell("", "sleep 0.3; cat", "");
    int pid = read_pid(&stream);
    char *bytes = malloc(SIZE);
    for (int i = 0; i < CALLS; i++) {
        memset(bytes, 'a' + i, SIZE);
        char *message = input_message(pid, "stdin", bytes, SIZE);
        clients[i] = connect_envd(&from_client);
        send_call(clients[i], "SendInput", message);
        free(message);
        usleep(5000); /* so that they arrive in this order */
    }
    struct client *closer = connect_envd(&from_client);
    char message[100];
    snprintf(message, sizeof message, "{\"process\":{\"pid\":%d}}", pid);
    send_call(closer, "CloseStdin", message);
    struct outcome outcome = read_all(stream);
    assert_int_equal(outcome.out_length, CALLS * SIZE);
    for (size_t i = 0; i < CALLS * SIZE; i++)
        assert_true(outcome.out[i] == (char)('a' + i / SIZE));
    for (int i = 0; i < CALLS; i++) {
        expect(clients[i], 200, "{}");
        disconnect(clients[i]);
    }
    expect(closer, 200, "{}");
    disconnect(closer);
    free_outcome(&outcome);
    free(bytes);
}

static void forgets_what_a_client_that_left_still_had_to_send(void **state) {
    (void)state;
    char line[200];
    snprintf(line, sizeof line, "until [ -e %s/go ]; do sleep 0.01; done; cat | tr -d x",
             directory);
    struct stream stream = start_shell("", line, "");
    int pid = read_pid(&stream);
    char *bytes = malloc(1000000);
    memset(bytes, 'x', 1000000);
    strcpy(bytes + 999990, "NOT THIS"); /* far behind what a pipe holds */
    struct client *first = connect_envd(&from_client), *second = connect_envd(&from_client);
    char *message = input_message(pid, "stdin", bytes, 1000000);
    send_call(first, "SendInput", message);
    usleep(50000);
    free(message);
    message = input_message(pid, "stdin", "but this", 8);
    send_call(second, "SendInput", message);
    usleep(50000);
    free(message);
    disconnect(first);
    usleep(50000);
    write_file("go", "");
    expect(second, 200, "{}");
    disconnect(second);
    call_pid("CloseStdin", pid, 200, "{}");
    expect_outcome(stream, "but this", 0);
    free(bytes);
}

static void fails_when_nobody_reads_it(void **state) {
    (void)state;
    struct stream stream =
        start_shell("Stepbox-Bound: 1\r\n", "exec <&-; echo closed; sleep 20", "");
    struct outcome outcome = new_outcome();
    read_until(&stream, &outcome, "closed");
    char *message = input_message(outcome.pid, "stdin", "x", 1);
    call("SendInput", message, 400,
         "{\"code\":\"failed_precondition\",\"message\":\"the process does not read its input any "
         "more\"}");
    free(message);
    close_stream(&stream);
    free_outcome(&outcome);
}

static void fails_when_the_process_ends_before_it_took_everything(void **state) {
    (void)state;
    /* What is left behind holds the pipe and does not read it. */
    struct stream stream =
        start_shell("", "exec 3<&0; sleep 1 <&3 >/dev/null 2>&1 & sleep 0.2; exit 5", "");
    int pid = read_pid(&stream);
    char *bytes = calloc(1, 300000), *message = input_message(pid, "stdin", bytes, 300000);
    struct client *client = connect_envd(&from_client);
    send_call(client, "SendInput", message);
    expect_outcome(stream, "", 5);
    expect(client, 404,
           "{\"code\":\"not_found\",\"message\":\"the process ended before it had taken the "
           "input\"}");
    disconnect(client);
    free(message);
    free(bytes);
}

static void bounds_what_waits(void **state) {
    (void)state;
    enum { CALLS = 5, SIZE = 10 * 1000 * 1000 };
    struct client *clients[CALLS];
    struct stream stream = start_shell("Stepbox-Bound: 1\r\n", "sleep 20", "");
    int pid = read_pid(&stream), refused = 0;
    char *bytes = calloc(1, SIZE), *message = input_message(pid, "stdin", bytes, SIZE);
    for (int i = 0; i < CALLS; i++) {
        clients[i] = connect_envd(&from_client);
        send_call(clients[i], "SendInput", message);
        struct pollfd pfd = {.fd = clients[i]->fd, .events = POLLIN};
        if (poll(&pfd, 1, i < 3 ? 100 : 5000) == 1) {
            struct answer answer = read_answer(clients[i], false);
            assert_int_equal(answer.status, 429);
            assert_non_null(strstr(answer.body, "resource_exhausted"));
            free(answer.body);
            refused++;
        }
    }
    assert_int_equal(refused, 2);
    for (int i = 0; i < CALLS; i++)
        disconnect(clients[i]);
    close_stream(&stream);
    free(message);
    free(bytes);
}

static void refuses_rubbish(void **state) {
    (void)state;
    static const char *const inputs[] = {
        "{}",
        "[]",
        "null",
        "5",
        "{\"stdin\":5}",
        "{\"stdin\":\"*\"}",
        "{\"stdin\":\"a\"}",
        "{\"pty\":1}",
        "\"\"",
        "{\"stdin\":\"\",\"pty\":\"\"}",
        "{\"stdin\":[]}",
        "{\"pty\":\"aGk=\"}",
    };
    struct stream stream = start_shell("Stepbox-Bound: 1\r\n", "sleep 20", "");
    int pid = read_pid(&stream);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct client *client = connect_envd(&from_client);
        char body[200];
        snprintf(body, sizeof body, "{\"process\":{\"pid\":%d},\"input\":%s}", pid, inputs[i]);
        send_call(client, "SendInput", body);
        struct answer answer = read_answer(client, false);
        if (answer.status != 400 || !strstr(answer.body, "invalid_argument"))
            fail_msg("%s: %d %s", body, answer.status, answer.body);
        free(answer.body);
        disconnect(client);
    }
    close_stream(&stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(is_open_unless_it_is_said_otherwise),
        PROCESS_TEST(is_closed_once),
        PROCESS_TEST(takes_every_byte_in_order_and_at_the_process_s_pace),
        PROCESS_TEST(keeps_the_order_of_calls_that_wait),
        PROCESS_TEST(forgets_what_a_client_that_left_still_had_to_send),
        PROCESS_TEST(fails_when_nobody_reads_it),
        PROCESS_TEST(fails_when_the_process_ends_before_it_took_everything),
        PROCESS_TEST(bounds_what_waits),
        PROCESS_TEST(refuses_rubbish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
