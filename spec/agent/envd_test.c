/* envd_test.c - the envd service: health, settings, tokens, and commands. */
#include "agent_fixture.h"

#include "connect_messages.h"

static void post_init(struct client *client, const char *headers, const char *body, int status) {
    request(client, "POST", "/init", headers, body, strlen(body));
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, status);
    free(answer.body);
}

static void is_set_up_by_the_engine_alone(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client), *engine = connect_envd(&from_engine);
    get(client, "/health");
    assert_int_equal(read_answer(client, false).status, 204);
    post_init(client, "", "{\"accessToken\":\"mine\"}", 403);
    get(client, "/envs");
    expect(client, 200, "{}");
    post_init(engine, "", "", 204);
    post_init(engine, "",
              "{\"accessToken\":\"t1\",\"envVars\":{\"A\":\"1\"},\"defaultUser\":\"user\","
              "\"timestamp\":\"2026-01-01T00:00:00Z\",\"defaultWorkdir\":\"/usr\"}",
              204);
    get(client, "/envs");
    expect(client, 401, "{\"code\":401,\"message\":\"the access token is missing or wrong\"}");
    request(client, "GET", "/envs", "X-Access-Token: t1\r\n", "", 0);
    expect(client, 200, "{\"A\":\"1\"}");
    get(client, "/health");
    assert_int_equal(read_answer(client, false).status, 204);

    /* The same again, a change with the old token, and one without. */
    post_init(engine, "", "{\"accessToken\":\"t1\",\"envVars\":{\"B\":\"2\"}}", 204);
    post_init(engine, "", "{\"accessToken\":\"t2\"}", 401);
    post_init(engine, "X-Access-Token: t1\r\n", "{\"accessToken\":\"t2\"}", 204);
    request(client, "GET", "/envs", "X-Access-Token: t2\r\n", "", 0);
    expect(client, 200, "{\"A\":\"1\",\"B\":\"2\"}");
    disconnect(client);
    disconnect(engine);
}

static void refuses_bad_settings(void **state) {
    (void)state;
    static const char *const bodies[][2] = {
        {"[]", "the body is not an object"},
        {"{\"bogus\":1}", "bogus is not a field that is known here"},
        {"{\"envVars\":{\"A\":1}}", "envVars must be an object of strings"},
        {"{\"envVars\":{\"=\":\"1\"}}",
         "envVars an environment variable's name cannot contain '='"},
        {"{\"accessToken\":5}", "accessToken must be a string"},
        {"{\"defaultWorkdir\":\"here\"}", "defaultWorkdir must be an absolute path"},
    };
    struct client *engine = connect_envd(&from_engine);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char expected[200];
        request(engine, "POST", "/init", "", bodies[i][0], strlen(bodies[i][0]));
        snprintf(expected, sizeof expected, "{\"code\":400,\"message\":\"%s\"}", bodies[i][1]);
        expect(engine, 400, expected);
    }
    post_init(engine, "", "{bad", 400);
    disconnect(engine);
}

static void names_unknown_paths(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    get(client, "/nope");
    expect(client, 404, "{\"code\":404,\"message\":\"there is no such path\"}");
    request(client, "POST", "/health", "", "", 0);
    expect(client, 405, "{\"code\":405,\"message\":\"the path does not take this method\"}");
    request_json(client, "POST", "/process.Process/Nope", "{}");
    expect(client, 501, "{\"code\":\"unimplemented\",\"message\":\"there is no such procedure\"}");
    disconnect(client);
}

static void start(struct client *client, const char *headers, const char *message) {
    char all[500], body[2000];
    size_t length = strlen(message);
    body[0] = body[1] = body[2] = 0;
    body[3] = (char)(length >> 8);
    body[4] = (char)length;
    memcpy(body + 5, message, length);
    snprintf(all, sizeof all, "Content-Type: application/connect+json\r\n%s", headers);
    request(client, "POST", "/process.Process/Start", all, body, length + 5);
}

/* The messages of a stream, a line each; pids are left out. */
static char *read_messages(struct client *client) {
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.head, "Content-Type: application/connect+json\r\n"));
    char *text = calloc(1, answer.length + 2), *at = text;
    for (size_t used = 0; used < answer.length;) {
        unsigned char *head = (unsigned char *)answer.body + used;
        size_t length =
            (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
        assert_true(used + 5 + length <= answer.length);
        if (head[0] & CONNECT_END)
            assert_int_equal(used + 5 + length, answer.length);
        const char *message = answer.body + used + 5;
        if (length > 16 && strncmp(message, "{\"event\":{\"start", 16) == 0)
            at += sprintf(at, "start\n");
        else
            at += sprintf(at, "%.*s\n", (int)length, message);
        used += 5 + length;
    }
    free(answer.body);
    return text;
}

static void expect_messages(struct client *client, const char *expected) {
    char *messages = read_messages(client);
    assert_string_equal(messages, expected);
    free(messages);
}

static void runs_commands(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    static const struct {
        const char *message, *expected;
    } cases[] = {
        {"{\"process\":{\"cmd\":\"/bin/sh\",\"args\":[\"-c\",\"printf $A; exit 3\"],\"envs\":{"
         "\"A\":\"hi\"}}}",
         "start\n{\"event\":{\"data\":{\"stdout\":\"aGk=\"}}}\n{\"event\":{\"end\":{\"exitCode\":3,"
         "\"exited\":true,\"status\":\"exit status 3\",\"error\":\"exit status 3\"}}}\n{}\n"},
        {"{\"process\":{\"cmd\":\"sh\",\"args\":[\"-c\",\"printf x >&2\"],\"cwd\":\"/\"},"
         "\"stdin\":false,\"tag\":\"t\"}",
         "start\n{\"event\":{\"data\":{\"stderr\":\"eA==\"}}}\n{\"event\":{\"end\":{\"exitCode\":0,"
         "\"exited\":true,\"status\":\"exit status 0\"}}}\n{}\n"},
        {"{\"process\":{\"cmd\":\"sh\",\"args\":[\"-c\",\"kill -9 $$\"]}}",
         "start\n{\"event\":{\"end\":{\"exitCode\":-1,\"exited\":false,\"status\":\"signal: "
         "killed\",\"error\":\"signal: killed\"}}}\n{}\n"},
        {"{\"process\":{\"cmd\":\"cat\"},\"stdin\":true}",
         "start\n{\"event\":{\"end\":{\"exitCode\":0,\"exited\":true,\"status\":\"exit status "
         "0\"}}}\n{}\n"},
        {"{\"process\":{\"cmd\":\"no-such-program\"}}",
         "{\"error\":{\"code\":\"not_found\",\"message\":\"cannot run 'no-such-program': No such "
         "file or directory\"}}\n"},
        {"{\"process\":{\"cmd\":\"ls\",\"cwd\":\"/no/such\"}}",
         "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"cannot enter the working "
         "directory '/no/such': No such file or directory\"}}\n"},
        {"{\"process\":{}}",
         "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"process.cmd is missing\"}}\n"},
        {"{\"process\":{\"cmd\":\"ls\",\"args\":[1]}}",
         "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"process.args must be strings "
         "without NUL\"}}\n"},
        {"{\"process\":{\"cmd\":\"ls\"},\"pty\":{}}",
         "{\"error\":{\"code\":\"unimplemented\",\"message\":\"terminals are not "
         "available\"}}\n"},
        {"[]", "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"the message is not an "
               "object\"}}\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(client, "", cases[i].message);
        expect_messages(client, cases[i].expected);
    }
    request(client, "POST", "/process.Process/Start", "Content-Type: application/json\r\n", "{}",
            2);
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 415);
    free(answer.body);
    request(client, "POST", "/process.Process/Start", "Content-Type: application/connect+json\r\n",
            "\0\0\0\0\7{}", 7);
    expect_messages(client, "{\"error\":{\"code\":\"invalid_argument\",\"message\":\"the message "
                            "is not whole\"}}\n");
    disconnect(client);
}

static void knows_its_users(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    start(client, "Authorization: Basic dXNlcjo=\r\n", "{\"process\":{\"cmd\":\"true\"}}");
    char *messages = read_messages(client);
    assert_non_null(strstr(messages, "exit status 0"));
    free(messages);
    start(client, "Authorization: Basic bm9ib2R5Og==\r\n", "{\"process\":{\"cmd\":\"true\"}}");
    expect_messages(client, "{\"error\":{\"code\":\"unauthenticated\",\"message\":\"there is no "
                            "such user in the sandbox\"}}\n");
    disconnect(client);
}

static void does_not_wait_for_what_a_command_left_behind(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    char message[400], path[200];
    double began = now();
    snprintf(message, sizeof message,
             "{\"process\":{\"cmd\":\"sh\",\"args\":[\"-c\",\"(sleep 0.6; echo late; touch "
             "%s/late) & printf done\"]}}",
             directory);
    start(client, "", message);
    expect_messages(client,
                    "start\n{\"event\":{\"data\":{\"stdout\":\"ZG9uZQ==\"}}}\n{\"event\":{"
                    "\"end\":{\"exitCode\":0,\"exited\":true,\"status\":\"exit status 0\"}}}"
                    "\n{}\n");
    assert_true(now() - began < 0.5);
    wait_for_file("late"); /* and it does not die of writing */
    in_directory(path, sizeof path, "late");
    disconnect(client);
}

static void kills_a_command_whose_client_left(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    char message[400], path[200];
    snprintf(message, sizeof message,
             "{\"process\":{\"cmd\":\"sh\",\"args\":[\"-c\",\"touch %s/begun; sleep 0.4; touch "
             "%s/survived\"]}}",
             directory, directory);
    start(client, "", message);
    wait_for_file("begun");
    disconnect(client);
    usleep(600000);
    in_directory(path, sizeof path, "survived");
    assert_int_not_equal(access(path, F_OK), 0);
}

static void keeps_to_deadlines_and_sends_keepalives(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    double began = now();
    start(client, "Connect-Timeout-Ms: 1300\r\nKeepalive-Ping-Interval: 1\r\n",
          "{\"process\":{\"cmd\":\"sleep\",\"args\":[\"20\"]}}");
    expect_messages(client, "start\n{\"event\":{\"keepalive\":{}}}\n{\"error\":{\"code\":"
                            "\"deadline_exceeded\",\"message\":\"the command did not end in time "
                            "and was killed\"}}\n");
    assert_true(now() - began < 2.0);
    disconnect(client);
}

static void streams_large_output_of_commands(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    start(client, "",
          "{\"process\":{\"cmd\":\"head\",\"args\":[\"-c\",\"9000000\",\"/dev/zero\"]}}");
    usleep(300000); /* the command waits for us */
    char *messages = read_messages(client);
    size_t bytes = 0;
    for (char *at = messages; (at = strstr(at, "\"stdout\":\"")); at++) {
        size_t length = strcspn(at + 10, "\"");
        bytes += length / 4 * 3 - (at[9 + length] == '=') - (at[8 + length] == '=');
    }
    assert_int_equal(bytes, 9000000);
    assert_non_null(strstr(messages, "\"exitCode\":0"));
    free(messages);
    disconnect(client);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(is_set_up_by_the_engine_alone),
        TEST(refuses_bad_settings),
        TEST(names_unknown_paths),
        TEST(runs_commands),
        TEST(knows_its_users),
        TEST(does_not_wait_for_what_a_command_left_behind),
        TEST(kills_a_command_whose_client_left),
        TEST(keeps_to_deadlines_and_sends_keepalives),
        TEST(streams_large_output_of_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
