/* step_test.c - steps through the whole code interpreter service, with a plain runner. */
#include "agent_fixture.h"

static void keeps_state_and_order(void **state) {
    (void)state;
    struct client *client = connect_code();
    run_code(client, "x = 20");
    expect_events(client, "number_of_executions:1\nend_of_execution");
    run_code(
        client,
        "out('a\\n'); drain(); err('b\\n'); drain(); out('c')\n"
        "send({'type': 'result', 'text': str(x + 1), 'extra': {}}); drain()\nout('d\xc3\xa9')");
    expect_events(client, "number_of_executions:2\nstdout:a\n\nstderr:b\n\nstdout:c\nresult:21\n"
                          "stdout:d\xc3\xa9\nend_of_execution");
    run_code(client, "1/0");
    expect_events(client, "number_of_executions:3\nerror:ZeroDivisionError\nend_of_execution");
    disconnect(client);
}

static void passes_results_on_as_they_are(void **state) {
    (void)state;
    struct client *client = connect_code();
    run_code(client,
             "raw(b'{\"type\": \"result\",   \"text\": \"\\\\u00e9\", \"json\": [1.50]}\\n')\n"
             "send({'type': 'secret'})");
    struct answer answer = read_answer(client, false);
    assert_string_equal(answer.body,
                        "{\"type\": \"number_of_executions\", \"execution_count\": 1}\n"
                        "{\"type\": \"result\",   \"text\": \"\\u00e9\", \"json\": [1.50]}\n"
                        "{\"type\": \"end_of_execution\"}\n");
    free(answer.body);
    disconnect(client);
}

static void streams_as_the_code_writes(void **state) {
    (void)state;
    struct client *client = connect_code();
    run_code(client, "pass");
    free(read_events(client));
    double start = now();
    run_code(client, "out('first'); time.sleep(2); out('second')");
    struct answer answer = read_head(client);
    while (!answer.body || !strstr(answer.body, "first"))
        assert_true(read_chunk(client, &answer));
    double first = now() - start;
    assert_null(strstr(answer.body, "second"));
    assert_true(first < 1.8);
    while (read_chunk(client, &answer))
        ;
    assert_true(now() - start >= 2);
    print_message("    first output after %.1f ms\n", first * 1e3);
    free(answer.body);
    disconnect(client);
}

static void queues_steps_of_one_context(void **state) {
    (void)state;
    struct client *one = connect_code(), *two = connect_code(), *three = connect_code();
    run_code(one, "log = ['one']; time.sleep(0.2)");
    usleep(20000);
    run_code(two, "log.append('two')");
    usleep(20000);
    run_code(three, "log.append('three'); out(' '.join(log))");
    expect_events(three, "number_of_executions:3\nstdout:one two three\nend_of_execution");
    expect_events(two, "number_of_executions:2\nend_of_execution");
    expect_events(one, "number_of_executions:1\nend_of_execution");
    disconnect(one);
    disconnect(two);
    disconnect(three);
}

static void forgets_a_queued_step_whose_client_left(void **state) {
    (void)state;
    struct client *one = connect_code(), *two = connect_code(), *three = connect_code();
    run_code(one, "log = ['one']; time.sleep(0.2)");
    usleep(20000);
    run_code(two, "log.append('two')");
    usleep(20000);
    run_code(three, "log.append('three'); out(' '.join(log))");
    disconnect(two);
    expect_events(three, "number_of_executions:2\nstdout:one three\nend_of_execution");
    disconnect(one);
    disconnect(three);
}

static void interrupts_code_whose_client_left(void **state) {
    (void)state;
    static const char *const loops[] = {
        "time.sleep(10)",
        "out('y' * 1000)",
        "x = 5",
    };
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        char code[300], path[200];
        struct client *client = connect_code();
        snprintf(code, sizeof code, "open('%s/running', 'w')\nx = 5\nwhile True: %s", directory,
                 loops[i]);
        run_code(client, code);
        wait_for_file("running");
        usleep(20000);
        double left = now();
        disconnect(client);
        client = connect_code();
        run_code(client, "out(str(x))");
        char *events = read_events(client);
        assert_non_null(strstr(events, "stdout:5\nend_of_execution"));
        assert_null(strstr(events, "restarted"));
        assert_true(now() - left < 5);
        free(events);
        disconnect(client);
        in_directory(path, sizeof path, "running");
        unlink(path);
    }
}

static void interrupts_on_request(void **state) {
    (void)state;
    struct client *client = connect_code(), *other = connect_code();
    char id[40], path[100];
    request_json(other, "POST", "/contexts", "{}");
    struct answer answer = read_answer(other, false);
    assert_int_equal(sscanf(answer.body, "{\"id\":\"%36s\"", id), 1);
    free(answer.body);
    snprintf(path, sizeof path, "/contexts/%s/interrupt", id);
    request_json(other, "POST", path, "");
    expect(other, 200, "{\"interrupted\":false}");

    char code[300];
    snprintf(code, sizeof code, "open('%s/running', 'w')\nwhile True: time.sleep(10)", directory);
    run_in(client, id, code);
    wait_for_file("running");
    request_json(other, "POST", path, "");
    expect(other, 200, "{\"interrupted\":true}");
    expect_events(client, "number_of_executions:1\nerror:KeyboardInterrupt\nend_of_execution");
    request_json(other, "POST", "/contexts/default/interrupt", "");
    expect(other, 200, "{\"interrupted\":false}");
    snprintf(code, sizeof code, "open('%s/again', 'w')\nwhile True: time.sleep(10)", directory);
    run_code(client, code);
    wait_for_file("again");
    request_json(other, "POST", "/contexts/default/interrupt", "");
    expect(other, 200, "{\"interrupted\":true}");
    expect_events(client, "number_of_executions:1\nerror:KeyboardInterrupt\nend_of_execution");
    request_json(other, "POST", "/contexts/nope/interrupt", "");
    expect(other, 404, "Context nope not found");
    disconnect(client);
    disconnect(other);
}

static void kills_code_that_ignores_its_interrupt_when_others_wait(void **state) {
    (void)state;
    char code[400];
    struct client *client = connect_code();
    snprintf(code, sizeof code,
             "x = 1\nwhile True:\n  try: open('%s/running', 'w'); time.sleep(10)\n"
             "  except KeyboardInterrupt: pass",
             directory);
    run_code(client, code);
    wait_for_file("running");
    disconnect(client);
    usleep(700000); /* longer than the grace, but nobody waited */
    client = connect_code();
    double start = now();
    run_code(client, "out(str('x' in globals()))");
    expect_events(client, "number_of_executions:1:restarted\nstdout:False\nend_of_execution");
    assert_true(now() - start > 0.45);
    disconnect(client);
}

static void survives_the_death_of_a_runner(void **state) {
    (void)state;
    struct client *client = connect_code(), *waiting = connect_code();
    run_code(client, "out('last words'); time.sleep(0.1); os._exit(3)");
    usleep(10000);
    run_code(waiting, "out('next')");
    expect_events(client, "number_of_executions:1\nstdout:last words\nerror:ContextRestarting\n"
                          "end_of_execution");
    expect_events(waiting, "number_of_executions:1:restarted\nstdout:next\nend_of_execution");
    run_code(client, "pass");
    expect_events(client, "number_of_executions:2\nend_of_execution");

    /* It may also die between two steps, or break the protocol. */
    run_code(client, "import threading\n"
                     "threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()");
    expect_events(client, "number_of_executions:3\nend_of_execution");
    usleep(150000);
    run_code(client, "raw(b'nonsense\\n'); time.sleep(10)");
    expect_events(client, "number_of_executions:1:restarted\nerror:ContextRestarting\n"
                          "end_of_execution");
    disconnect(client);
    disconnect(waiting);
}

static void starts_afresh_after_exit(void **state) {
    (void)state;
    struct client *client = connect_code();
    run_code(client, "x = 1; out('bye'); leave()");
    expect_events(client, "number_of_executions:1\nstdout:bye\nend_of_execution");
    run_code(client, "out(str('x' in globals()))");
    expect_events(client, "number_of_executions:1:restarted\nstdout:False\nend_of_execution");
    disconnect(client);
}

static void tells_why_a_runner_does_not_start(void **state) {
    (void)state;
    struct client *client = connect_code();
    char path[200];
    write_file("python/broken", "");
    run_code(client, "pass");
    struct answer answer = read_answer(client, false);
    assert_non_null(strstr(answer.body, "\"name\": \"ContextStartError\""));
    assert_non_null(strstr(answer.body, "cannot start: broken"));
    assert_non_null(strstr(answer.body, "{\"type\": \"end_of_execution\"}\n"));
    free(answer.body);
    in_directory(path, sizeof path, "python/broken");
    unlink(path);
    run_code(client, "pass");
    expect_events(client, "number_of_executions:1\nend_of_execution");
    disconnect(client);
}

static void ends_running_steps_at_restart_and_delete(void **state) {
    (void)state;
    static const char lost[] = "number_of_executions:1\nstdout:s\nerror:WebSocketError\n"
                               "error:UnexpectedEndOfExecution\nend_of_execution";
    struct client *client = connect_code(), *other = connect_code(), *queued = connect_code();
    char id[40], path[100];
    request_json(other, "POST", "/contexts", "{}");
    struct answer answer = read_answer(other, false);
    assert_int_equal(sscanf(answer.body, "{\"id\":\"%36s\"", id), 1);
    free(answer.body);
    for (int i = 0; i < 2; i++) {
        run_in(client, id, "out('s'); time.sleep(20)");
        usleep(i ? 50000 : 300000);
        run_in(queued, id, "out('q')");
        usleep(20000);
        snprintf(path, sizeof path, "/contexts/%s%s", id, i ? "" : "/restart");
        request_json(other, i ? "DELETE" : "POST", path, "");
        expect(other, 200, "null");
        if (i == 0)
            expect_events(queued, "number_of_executions:1\nstdout:q\nend_of_execution");
        else
            expect_events(queued, "error:WebSocketError\nerror:UnexpectedEndOfExecution\n"
                                  "end_of_execution");
        char *events = read_events(client);
        assert_string_equal(strstr(events, "\nstdout"), strstr(lost, "\nstdout"));
        free(events);
    }
    run_in(client, id, "pass");
    answer = read_answer(client, false);
    assert_int_equal(answer.status, 404);
    free(answer.body);
    disconnect(client);
    disconnect(other);
    disconnect(queued);
}

static void gives_steps_and_runners_their_environment(void **state) {
    (void)state;
    struct client *client = connect_code(), *envd = connect_envd(&from_engine);
    request_json(envd, "POST", "/init", "{\"envVars\": {\"G\": \"it's\", \"H\": \"1\"}}");
    assert_int_equal(read_answer(envd, false).status, 204);
    static const char body[] = "{\"code\": \"out(repr([os.environ.get(n) for n in 'GHS']))\","
                               "\"env_vars\": {\"S\": \"a'\\\\n\\\"b\", \"H\": \"2\"}}";
    request_json(client, "POST", "/execute", body);
    expect_events(client, "number_of_executions:1\nstdout:[\"it's\", '2', 'a\\'\\\\n\"b']\n"
                          "end_of_execution");
    run_code(client, "out(repr([os.environ.get(n) for n in 'GHS']))");
    expect_events(client, "number_of_executions:2\nstdout:[\"it's\", '1', None]\n"
                          "end_of_execution");
    disconnect(client);
    disconnect(envd);
}

static void drops_output_between_steps(void **state) {
    (void)state;
    struct client *client = connect_code();
    run_code(client, "import threading\ndef late():\n  time.sleep(0.05); out('late' * 200000)\n"
                     "threading.Thread(target=late).start()");
    expect_events(client, "number_of_executions:1\nend_of_execution");
    usleep(100000);
    run_code(client, "time.sleep(0.05); out('now')");
    expect_events(client, "number_of_executions:2\nstdout:now\nend_of_execution");
    disconnect(client);
}

static void holds_code_back_while_the_client_is_slow(void **state) {
    (void)state;
    char code[400], path[200];
    struct client *client = connect_code();
    snprintf(code, sizeof code,
             "for i in range(100):\n  out('z' * 100000)\n  if i == 99: open('%s/done', 'w')\n"
             "send({'type': 'result', 'text': 'r'})",
             directory);
    run_code(client, code);
    usleep(400000);
    in_directory(path, sizeof path, "done");
    assert_int_not_equal(access(path, F_OK), 0); /* nobody reads: the code waits */
    char *events = read_events(client);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(strlen(events), strlen("number_of_executions:1\nstdout:") + 10000000 +
                                         strlen("\nresult:r\nend_of_execution"));
    free(events);
    disconnect(client);
}

static void keeps_a_silent_step_alive(void **state) {
    (void)state;
    struct client *client = connect_code();
    run_code(client, "time.sleep(5.6)");
    struct answer answer = read_answer(client, false);
    assert_non_null(strstr(answer.body, "{\"type\": \"keepalive\"}\n"));
    free(answer.body);
    disconnect(client);
}

static void kills_what_the_code_started(void **state) {
    (void)state;
    struct client *client = connect_code();
    char path[200];
    run_code(client,
             "import subprocess\n"
             "ps = [subprocess.Popen(['sleep', '60'], start_new_session=s) for s in (0, 1)]\n"
             "out(' '.join(str(p.pid) for p in ps))");
    char *events = read_events(client);
    int one, two;
    assert_int_equal(sscanf(strstr(events, "stdout:"), "stdout:%d %d", &one, &two), 2);
    free(events);
    snprintf(path, sizeof path, "/contexts");
    request_json(client, "GET", path, "");
    struct answer answer = read_answer(client, false);
    char id[40];
    assert_int_equal(sscanf(answer.body, "[{\"id\":\"%36s\"", id), 1);
    free(answer.body);
    assert_int_equal(kill(one, 0), 0);
    assert_int_equal(kill(two, 0), 0);
    snprintf(path, sizeof path, "/contexts/%s", id);
    request_json(client, "DELETE", path, "");
    expect(client, 200, "null");
    for (int i = 0; i < 1000 && (kill(one, 0) == 0 || kill(two, 0) == 0); i++)
        usleep(1000);
    char stat[40];
    /* Reaped by whoever is process 1 here, or a zombie until then: not running in either case. */
    for (int i = 0; i < 2; i++) {
        char status = 'Z';
        snprintf(stat, sizeof stat, "/proc/%d/stat", i ? two : one);
        FILE *file = fopen(stat, "r");
        if (file) {
            assert_int_equal(fscanf(file, "%*d %*s %c", &status), 1);
            fclose(file);
        }
        assert_int_equal(status, 'Z');
    }
    disconnect(client);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void is_fast(void **state) {
    (void)state;
    static double times[500];
    struct client *client = connect_code();
    for (int i = 0; i < 500; i++) {
        double start = now();
        run_code(client, "x = 1");
        free(read_events(client));
        times[i] = now() - start;
    }
    qsort(times, 500, sizeof times[0], by_value);
    print_message("    500 steps: round trip p50 %.0f us, p99 %.0f us\n", times[250] * 1e6,
                  times[495] * 1e6);
    assert_true(times[250] < 0.02);
    disconnect(client);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(keeps_state_and_order),
        TEST(passes_results_on_as_they_are),
        TEST(streams_as_the_code_writes),
        TEST(queues_steps_of_one_context),
        TEST(forgets_a_queued_step_whose_client_left),
        TEST(interrupts_code_whose_client_left),
        TEST(interrupts_on_request),
        TEST(kills_code_that_ignores_its_interrupt_when_others_wait),
        TEST(survives_the_death_of_a_runner),
        TEST(starts_afresh_after_exit),
        TEST(tells_why_a_runner_does_not_start),
        TEST(ends_running_steps_at_restart_and_delete),
        TEST(gives_steps_and_runners_their_environment),
        TEST(drops_output_between_steps),
        TEST(holds_code_back_while_the_client_is_slow),
        TEST(keeps_a_silent_step_alive),
        TEST(kills_what_the_code_started),
        TEST(is_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
