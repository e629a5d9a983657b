/* output_limit_test.c - steps and commands that put out more than they may: what arrives, how both
 * kinds of clients learn of the rest, and that the code goes on. */
#include "process_fixture.h"

#define LIMIT 100000

static int set_up(void **state) {
    agent_output = LIMIT;
    return agent_set_up(state);
}

/* The events of a step, as JSON. */
static json_t *events_of(const char *code) {
    struct client *client = connect_code();
    run_code(client, code);
    struct answer answer = read_answer(client, false);
    assert_false(answer.cut);
    json_t *events = json_array();
    char *rest = answer.body;
    for (char *line; (line = strsep(&rest, "\n")) && *line;)
        json_array_append_new(events, json_loads(line, 0, NULL));
    free(answer.body);
    disconnect(client);
    return events;
}

static const char *text_of(const json_t *event, const char *name) {
    const char *text = json_string_value(json_object_get(event, name));
    return text ? text : "";
}

/* The event, counted from the last. */
static const json_t *last(const json_t *events, size_t which) {
    return json_array_get(events, json_array_size(events) - 1 - which);
}

static size_t bytes_of(const json_t *events, const char *type) {
    size_t index, length = 0;
    const json_t *event;
    json_array_foreach((json_t *)events, index, event) {
        if (strcmp(text_of(event, "type"), type) == 0 && !json_object_get(event, "dropped"))
            length += json_string_length(json_object_get(event, "text"));
    }
    return length;
}

static void expect_dropped(const json_t *event, int out, int err, int results) {
    const json_t *dropped = json_object_get(event, "dropped");
    assert_string_equal(text_of(event, "type"), "stderr");
    assert_non_null(strstr(text_of(event, "timestamp"), "T"));
    assert_int_equal(json_integer_value(json_object_get(dropped, "stdout")), out);
    assert_int_equal(json_integer_value(json_object_get(dropped, "stderr")), err);
    assert_int_equal(json_integer_value(json_object_get(dropped, "results")), results);
}

static void a_step_is_cut_at_its_limit_and_goes_on(void **state) {
    (void)state;
    json_t *events = events_of("kept = 0\nfor i in range(30):\n    out('x' * 10000)\n    kept = i");
    assert_int_equal(bytes_of(events, "stdout"), LIMIT);
    assert_string_equal(text_of(last(events, 0), "type"), "end_of_execution");
    expect_dropped(last(events, 1), 200000, 0, 0);
    assert_string_equal(text_of(last(events, 1), "text"),
                        "[stepbox: dropped beyond the sandbox's limit of output, 100000 bytes for "
                        "each step: 200000 bytes of output]\n");
    json_decref(events);
    /* The state is there, and the next step has a budget of its own. */
    events = events_of("out('y' * 100000); drain(); assert kept == 29");
    assert_int_equal(bytes_of(events, "stdout"), LIMIT);
    assert_null(json_object_get(last(events, 1), "dropped"));
    assert_string_equal(text_of(last(events, 1), "type"), "stdout");
    json_decref(events);
}

static void both_streams_share_it(void **state) {
    (void)state;
    json_t *events = events_of("out('x' * 60000); drain(); err('y' * 60000); drain(); out('z')");
    assert_int_equal(bytes_of(events, "stdout"), 60000);
    assert_int_equal(bytes_of(events, "stderr"), 40000);
    expect_dropped(last(events, 1), 1, 20000, 0);
    /* What people read begins a line. */
    assert_int_equal(text_of(last(events, 1), "text")[0], '\n');
    json_decref(events);
}

static void a_result_beyond_it_becomes_an_error(void **state) {
    (void)state;
    json_t *events = events_of("send({'type': 'result', 'text': 'x' * 100000})\n"
                               "send({'type': 'result', 'text': 'small'}); drain(); out('after')");
    assert_int_equal(bytes_of(events, "result"), 5);
    assert_int_equal(bytes_of(events, "stdout"), 5);
    assert_string_equal(text_of(last(events, 1), "type"), "error");
    assert_string_equal(text_of(last(events, 1), "name"), "OutputLimitExceeded");
    assert_string_equal(text_of(last(events, 1), "value"),
                        "dropped beyond the sandbox's limit of output, 100000 bytes for each step: "
                        "1 result or error of 100030 bytes");
    expect_dropped(last(events, 2), 0, 0, 100030);
    json_decref(events);
}

static void the_error_of_the_code_is_never_hidden(void **state) {
    (void)state;
    json_t *events = events_of("out('x' * 200000)\n"
                               "send({'type': 'result', 'text': 'late'})\n1/0");
    assert_int_equal(bytes_of(events, "result"), 0);
    expect_dropped(last(events, 1), 100000, 0, 34);
    assert_string_equal(text_of(last(events, 2), "name"), "ZeroDivisionError");
    json_decref(events);
}

static void errors_without_end_are_bounded(void **state) {
    (void)state;
    json_t *events = events_of(
        "for i in range(100):\n"
        "    send({'type': 'error', 'name': 'E', 'value': 'v' * 30000, 'traceback': ''})");
    size_t index, errors = 0;
    json_t *event;
    json_array_foreach(events, index, event) errors += strcmp(text_of(event, "type"), "error") == 0;
    assert_int_equal(errors, 3);
    json_decref(events);
}

static void a_command_is_cut_and_goes_on(void **state) {
    (void)state;
    struct outcome outcome = read_all(
        start_shell("", "head -c 300000 /dev/zero; printf x >&2; echo done >done; exit 3", ""));
    assert_int_equal(outcome.out_length, LIMIT);
    assert_int_equal(outcome.exit_code, 3);
    assert_string_equal(outcome.err,
                        "[stepbox: dropped beyond the sandbox's limit of output, 100000 "
                        "bytes for each command: 200001 bytes of output]\n");
    free_outcome(&outcome);
    wait_for_file("done");
    struct stream stream = start_shell("", "head -c 100001 /dev/zero", "");
    json_t *message, *before = NULL, *told = NULL;
    while ((message = next_message(&stream)) && !stream.ended) {
        json_decref(told);
        told = before;
        before = message;
    }
    json_decref(message);
    const json_t *data = json_object_get(json_object_get(told, "event"), "data");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(data, "dropped"), "stdout")), 1);
    json_decref(before);
    json_decref(told);
    close_stream(&stream);
}

static void what_nobody_follows_counts_for_nothing(void **state) {
    (void)state;
    struct stream stream =
        start_shell("",
                    "until [ -e go ]; do sleep 0.02; done; head -c 300000 /dev/zero; touch filled; "
                    "until [ -e more ]; do sleep 0.02; done; printf after",
                    "");
    int pid = read_pid(&stream);
    close_stream(&stream);
    /* The agent has seen that we left when it answers what came later. */
    for (int i = 0; i < 3; i++) {
        struct client *client = connect_envd(&from_client);
        send_call(client, "List", "{}");
        free(read_answer(client, false).body);
        disconnect(client);
    }
    write_file("go", "");
    wait_for_file("filled");
    stream = follow_pid(pid, "");
    read_pid(&stream);
    write_file("more", "");
    struct outcome outcome = read_all(stream);
    assert_string_equal(outcome.out, "after");
    assert_string_equal(outcome.err, "");
    free_outcome(&outcome);
}

static void a_terminal_has_no_limit(void **state) {
    (void)state;
    struct outcome outcome = read_all(start_shell("", "head -c 150000 /dev/zero",
                                                  ",\"pty\":{\"size\":{\"cols\":80,\"rows\":24}}"));
    assert_int_equal(outcome.pty_length, 150000);
    free_outcome(&outcome);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_step_is_cut_at_its_limit_and_goes_on), TEST(both_streams_share_it),
        TEST(a_result_beyond_it_becomes_an_error),    TEST(the_error_of_the_code_is_never_hidden),
        TEST(errors_without_end_are_bounded),         TEST(a_command_is_cut_and_goes_on),
        TEST(what_nobody_follows_counts_for_nothing), TEST(a_terminal_has_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
