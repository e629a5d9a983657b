/* contexts_test.c - the code interpreter's paths: contexts, errors, tokens, cross-origin requests.
 */
#include "agent_fixture.h"

static void expect_status(struct client *client, int status, const char *type, const char *body) {
    struct answer answer = read_answer(client, false);
    char header[100];
    assert_int_equal(answer.status, status);
    if (type) {
        snprintf(header, sizeof header, "\r\nContent-Type: %s\r\n", type);
        assert_non_null(strstr(answer.head, header));
    }
    assert_string_equal(answer.body ? answer.body : "", body);
    free(answer.body);
}

#define JSON "application/json"
#define TEXT "text/plain; charset=utf-8"

static void answers_as_recorded(void **state) {
    (void)state;
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *type, *answer;
    } cases[] = {
        {"GET", "/health", "", 200, JSON, "\"OK\""},
        {"GET", "/", "", 404, JSON, "{\"detail\":\"Not Found\"}"},
        {"GET", "/execute", "", 405, JSON, "{\"detail\":\"Method Not Allowed\"}"},
        {"GET", "/contexts/x/restart", "", 405, JSON, "{\"detail\":\"Method Not Allowed\"}"},
        {"POST", "/contexts/x/other", "", 404, JSON, "{\"detail\":\"Not Found\"}"},
        {"POST", "/contexts//restart", "", 404, JSON, "{\"detail\":\"Not Found\"}"},
        {"GET", "/contexts", "", 200, JSON, "[]"},
        {"DELETE", "/contexts/nope", "", 404, TEXT, "Context nope not found"},
        {"POST", "/contexts/nope/restart", "", 404, TEXT, "Context nope not found"},
        {"POST", "/execute", "{\"code\":\"1\",\"context_id\":\"no-such\"}", 404, TEXT,
         "Context no-such not found"},
        {"POST", "/execute", "{\"code\":\"1\",\"context_id\":\"x\",\"language\":\"python\"}", 400,
         TEXT, "Only one of context_id or language can be provided"},
        {"POST", "/execute", "{\"code\":\"1\",\"language\":\" COBOL \"}", 400, TEXT,
         "Failed to create context: {\"message\": \"The 'cobol' kernel is not available. Please "
         "pick another suitable kernel instead, or install that kernel.\", \"short_message\": "
         "\"cobol not found\"}"},
        {"POST", "/execute", "", 422, JSON,
         "{\"detail\":[{\"type\":\"missing\",\"loc\":[\"body\"],\"msg\":\"Field required\","
         "\"input\":null}]}"},
        {"POST", "/execute", "{bad", 422, JSON,
         "{\"detail\":[{\"type\":\"json_invalid\",\"loc\":[\"body\",1],\"msg\":\"JSON decode "
         "error\",\"input\":{},\"ctx\":{\"error\":\"Expecting property name enclosed in double "
         "quotes\"}}]}"},
        {"POST", "/execute", "{\"language\":\"python\"}", 422, JSON,
         "{\"detail\":[{\"type\":\"missing\",\"loc\":[\"body\",\"code\"],\"msg\":\"Field "
         "required\",\"input\":{\"language\":\"python\"}}]}"},
        {"POST", "/execute", "{\"code\":null,\"language\":1}", 422, JSON,
         "{\"detail\":[{\"type\":\"string_type\",\"loc\":[\"body\",\"code\"],\"msg\":\"Input "
         "should be a valid string\",\"input\":null},{\"type\":\"string_type\",\"loc\":[\"body\","
         "\"language\"],\"msg\":\"Input should be a valid string\",\"input\":1}]}"},
        {"POST", "/execute", "[1]", 422, JSON,
         "{\"detail\":[{\"type\":\"model_attributes_type\",\"loc\":[\"body\"],\"msg\":\"Input "
         "should be a valid dictionary or object to extract fields from\",\"input\":[1]}]}"},
        {"POST", "/execute", "{\"code\":\"1\",\"env_vars\":{\"A\":1}}", 422, JSON,
         "{\"detail\":[{\"type\":\"string_type\",\"loc\":[\"body\",\"env_vars\",\"A\"],\"msg\":"
         "\"Input should be a valid string\",\"input\":1}]}"},
        {"POST", "/execute", "{\"code\":\"1\",\"env_vars\":{\"A=B\":\"1\"}}", 422, JSON,
         "{\"detail\":[{\"type\":\"value_error\",\"loc\":[\"body\",\"env_vars\",\"A=B\"],\"msg\":"
         "\"an environment variable's name cannot contain '='\",\"input\":\"1\"}]}"},
        {"POST", "/execute", "{\"code\":\"1\",\"env_vars\":{\"A\":\"\\u0000\"}}", 422, JSON,
         "{\"detail\":[{\"type\":\"value_error\",\"loc\":[\"body\",\"env_vars\",\"A\"],\"msg\":"
         "\"an environment variable's value cannot contain NUL\",\"input\":\"\\u0000\"}]}"},
        {"POST", "/execute", "{\"code\":\"\xff\"}", 400, JSON,
         "{\"detail\":\"There was an error parsing the body\"}"},
        {"POST", "/contexts", "{\"env_vars\":{\"A=B\":\"1\"}}", 422, JSON,
         "{\"detail\":[{\"type\":\"value_error\",\"loc\":[\"body\",\"env_vars\",\"A=B\"],\"msg\":"
         "\"an environment variable's name cannot contain '='\",\"input\":\"1\"}]}"},
        {"POST", "/contexts", "{\"cwd\":5}", 422, JSON,
         "{\"detail\":[{\"type\":\"string_type\",\"loc\":[\"body\",\"cwd\"],\"msg\":\"Input should "
         "be a valid string\",\"input\":5}]}"},
        {"POST", "/contexts", "{\"cwd\":\"a\\u0000b\"}", 400, TEXT, "cwd: the path contains NUL"},
        {"POST", "/contexts", "{\"cwd\":\"~other/x\"}", 400, TEXT,
         "cwd: the home directories of other users are not known: use ~ or ~/"},
        {"POST", "/contexts/a%2Fb/interrupt", "", 404, TEXT, "Context a/b not found"},
        {"DELETE", "/contexts/a%2Frestart", "", 404, TEXT, "Context a/restart not found"},
        {"POST", "/contexts/a/other", "", 404, JSON, "{\"detail\":\"Not Found\"}"},
    };
    struct client *client = connect_code();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        request_json(client, cases[i].method, cases[i].path, cases[i].body);
        expect_status(client, cases[i].status, cases[i].type, cases[i].answer);
    }
    static const char text[] = "{\"code\":\"1\"}";
    request(client, "POST", "/execute", "Content-Type: text/plain\r\n", text, sizeof text - 1);
    expect_status(client, 422, JSON,
                  "{\"detail\":[{\"type\":\"model_attributes_type\",\"loc\":[\"body\"],\"msg\":"
                  "\"Input should be a valid dictionary or object to extract fields from\","
                  "\"input\":\"{\\\"code\\\":\\\"1\\\"}\"}]}");
    request(client, "POST", "/execute", "", text, sizeof text - 1);
    free(read_events(client));
    disconnect(client);
}

static void answers_other_origins(void **state) {
    (void)state;
    struct client *client = connect_code();
    request(client, "OPTIONS", "/execute",
            "Origin: http://a.example\r\nAccess-Control-Request-Method: POST\r\n"
            "Access-Control-Request-Headers: content-type\r\n",
            "", 0);
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "OK");
    assert_non_null(strstr(answer.head, "Access-Control-Allow-Headers: content-type\r\n"));
    assert_non_null(strstr(answer.head, "Access-Control-Allow-Origin: *\r\n"));
    free(answer.body);
    disconnect(client);
}

static void finds_default_contexts_by_every_name(void **state) {
    (void)state;
    struct client *client = connect_code();
    run_code(client, "pass");
    free(read_events(client));
    static const char *const bodies[] = {
        "{\"code\":\"pass\",\"context_id\":\"default\"}",
        "{\"code\":\"pass\",\"context_id\":\"\",\"language\":null}",
        "{\"code\":\"pass\",\"language\":\"\"}",
        "{\"code\":\"pass\",\"language\":\" PyThon3\\n\"}",
        "{\"code\":\"pass\",\"language\":\"py\",\"bogus\":1}",
    };
    for (int i = 0; i < 5; i++) {
        char expected[100];
        request_json(client, "POST", "/execute", bodies[i]);
        snprintf(expected, sizeof expected, "number_of_executions:%d\nend_of_execution", i + 2);
        expect_events(client, expected);
    }
    disconnect(client);
}

static void gives_contexts_their_environment(void **state) {
    (void)state;
    struct client *client = connect_code();
    char id[40];
    request_json(client, "POST", "/contexts", "{\"env_vars\":{\"OF_CONTEXT\":\"'$(x)\"}}");
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 200);
    assert_int_equal(sscanf(answer.body, "{\"id\":\"%36s\"", id), 1);
    free(answer.body);
    run_in(client, id, "out(os.environ['OF_CONTEXT'])");
    expect_events(client, "number_of_executions:1\nstdout:'$(x)\nend_of_execution");
    run_code(client, "out(os.environ.get('OF_CONTEXT', 'none'))");
    char *events = read_events(client);
    assert_non_null(strstr(events, "stdout:none"));
    free(events);
    disconnect(client);
}

static void lists_languages(void **state) {
    (void)state;
    struct client *client = connect_code();
    request_json(client, "GET", "/contexts/languages", "");
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 200);
    json_t *list = json_loads(answer.body, 0, NULL);
    /* The only runner here; kernels of Jupyter may be listed after it. */
    json_t *python = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(python, "name")), "python");
    assert_int_equal(json_array_size(json_object_get(python, "aliases")), 2);
    assert_true(json_is_boolean(json_object_get(python, "available")));
    json_decref(list);
    free(answer.body);
    disconnect(client);
}

static void keeps_contexts_apart(void **state) {
    (void)state;
    struct client *client = connect_code();
    char ids[2][40], path[100], expected[300];
    for (int i = 0; i < 2; i++) {
        request_json(client, "POST", "/contexts",
                     i ? "{\"cwd\":\"/usr\",\"language\":\"python\"}" : "{\"cwd\":\"/no/such\"}");
        struct answer answer = read_answer(client, false);
        assert_int_equal(answer.status, 200);
        assert_int_equal(sscanf(answer.body, "{\"id\":\"%36s\"", ids[i]), 1);
        free(answer.body);
    }
    run_in(client, ids[0], "x = 1; out(os.getcwd())");
    snprintf(expected, sizeof expected, "number_of_executions:1\nstdout:%s\nend_of_execution",
             directory); /* a directory that is not there is no failure */
    expect_events(client, expected);
    run_in(client, ids[1], "out(os.getcwd() + ' ' + str('x' in globals()))");
    expect_events(client, "number_of_executions:1\nstdout:/usr False\nend_of_execution");
    request_json(client, "GET", "/contexts", "");
    snprintf(expected, sizeof expected,
             "[{\"id\":\"%s\",\"language\":\"python\",\"cwd\":\"/no/such\"},"
             "{\"id\":\"%s\",\"language\":\"python\",\"cwd\":\"/usr\"}]",
             ids[0], ids[1]);
    expect(client, 200, expected);
    snprintf(path, sizeof path, "/contexts/%s", ids[0]);
    request_json(client, "DELETE", path, "");
    expect(client, 200, "null");
    request_json(client, "DELETE", path, "");
    assert_int_equal(read_head(client).status, 404);
    disconnect(client);
}

static void asks_for_the_token_where_it_must(void **state) {
    (void)state;
    struct client *client = connect_code();
    agent.access_token = strdup("secret");
    request_json(client, "POST", "/execute", "{\"code\":\"pass\"}");
    expect_status(client, 401, JSON, "{\"detail\":\"The access token is missing or wrong\"}");
    request_json(client, "POST", "/contexts/default/interrupt", "");
    expect_status(client, 401, JSON, "{\"detail\":\"The access token is missing or wrong\"}");
    request(client, "POST", "/execute", "X-Access-Token: Secret\r\n", "{\"code\":\"pass\"}", 15);
    expect_status(client, 401, JSON, "{\"detail\":\"The access token is missing or wrong\"}");
    request(client, "POST", "/execute", "X-Access-Token: secret\r\n", "{\"code\":\"pass\"}", 15);
    free(read_events(client));
    request_json(client, "GET", "/health", "");
    expect(client, 200, "\"OK\"");
    disconnect(client);
}

static void closes_connections_of_the_shared_gateway(void **state) {
    (void)state;
    struct client *client = connect_code();
    request(client, "POST", "/execute", "E2b-Sandbox-Id: iabc\r\n", "{\"code\":\"pass\"}", 15);
    struct answer answer = read_answer(client, false);
    assert_non_null(strcasestr(answer.head, "\r\nConnection: close\r\n"));
    assert_false(receive(client));
    free(answer.body);
    disconnect(client);
}

static void runs_many_contexts_at_once(void **state) {
    (void)state;
    enum { MANY = 20 };
    struct client *clients[MANY];
    char ids[MANY][40];
    double start = now();
    for (int i = 0; i < MANY; i++) {
        clients[i] = connect_code();
        request_json(clients[i], "POST", "/contexts", "{}");
    }
    for (int i = 0; i < MANY; i++) {
        struct answer answer = read_answer(clients[i], false);
        assert_int_equal(sscanf(answer.body, "{\"id\":\"%36s\"", ids[i]), 1);
        free(answer.body);
        run_in(clients[i], ids[i], "out('hello')");
    }
    for (int i = 0; i < MANY; i++) {
        expect_events(clients[i], "number_of_executions:1\nstdout:hello\nend_of_execution");
        disconnect(clients[i]);
    }
    print_message("    %d contexts and a step in each: %.0f ms\n", MANY, (now() - start) * 1e3);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(answers_as_recorded),
        TEST(answers_other_origins),
        TEST(finds_default_contexts_by_every_name),
        TEST(gives_contexts_their_environment),
        TEST(lists_languages),
        TEST(keeps_contexts_apart),
        TEST(asks_for_the_token_where_it_must),
        TEST(closes_connections_of_the_shared_gateway),
        TEST(runs_many_contexts_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
