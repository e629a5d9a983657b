/* envd_test.c - the envd service: health, settings and tokens. */
#include "agent_fixture.h"

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

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(is_set_up_by_the_engine_alone),
        TEST(refuses_bad_settings),
        TEST(names_unknown_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
