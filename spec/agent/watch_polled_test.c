/* watch_polled_test.c - watchers that are asked for their changes; bounds of both. */
#include "filesystem_fixture.h"

static char *create(struct client *client, const char *body) {
    json_t *answer = call(client, "CreateWatcher", body, 200);
    char *id = strdup(text_member(answer, "watcherId"));
    assert_int_equal(*id, 'w');
    assert_true(strlen(id) > 8);
    json_decref(answer);
    return id;
}

static json_t *ask(struct client *client, const char *procedure, const char *id, int status) {
    return call_with(client, procedure, json_pack("{s:s}", "watcherId", id), status);
}

/* Asks until there are that many events: "CREATE a", a line each. */
static void expect_changes(struct client *client, const char *id, size_t count,
                           const char *expected) {
    char text[4000] = "";
    for (int tries = 0; count > 0 && tries < 1000; tries++) {
        json_t *answer = ask(client, "GetWatcherEvents", id, 200), *event;
        size_t index;
        json_array_foreach(json_object_get(answer, "events"), index, event) {
            strcat(strcat(text, text_member(event, "type") + 11), " ");
            strcat(strcat(text, text_member(event, "name")), "\n");
            count--;
        }
        json_decref(answer);
        usleep(2000);
    }
    assert_string_equal(text, expected);
}

static void tells_changes_when_asked(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    mkdir(below("w"), 0755);
    char *id = create(client, "{\"path\":\"w\",\"recursive\":true}");
    json_t *answer = ask(client, "GetWatcherEvents", id, 200);
    assert_int_equal(json_array_size(json_object_get(answer, "events")), 0);
    json_decref(answer);
    mkdir(below("w/a"), 0755);
    make_file_at(below("w/b \"c\"\n"));
    expect_changes(client, id, 2, "CREATE a\nCREATE b \"c\"\n\n");
    make_file_at(below("w/a/d"));
    expect_changes(client, id, 1, "CREATE a/d\n");
    answer = ask(client, "GetWatcherEvents", id, 200);
    assert_int_equal(json_array_size(json_object_get(answer, "events")), 0);
    json_decref(answer);
    json_decref(ask(client, "RemoveWatcher", id, 200));
    expect_error(ask(client, "GetWatcherEvents", id, 404), "not_found", id);
    expect_error(ask(client, "RemoveWatcher", id, 404), "not_found", id);
    free(id);
    disconnect(client);
}

static void takes_both_names_of_members(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    char *id = create(client, "{\"path\":\"\",\"include_entry\":true}");
    make_file_at(below("file"));
    json_t *entry = NULL;
    for (int tries = 0; !entry && tries < 1000; tries++) {
        json_t *answer =
            call_with(client, "GetWatcherEvents", json_pack("{s:s}", "watcher_id", id), 200);
        entry = json_incref(
            json_object_get(json_array_get(json_object_get(answer, "events"), 0), "entry"));
        json_decref(answer);
        usleep(2000);
    }
    assert_string_equal(text_member(entry, "path"), below("file"));
    json_decref(entry);
    free(id);
    disconnect(client);
}

static void names_what_is_wrong(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    write_file("file", "");
    expect_error(call_path(client, "CreateWatcher", "missing", 404), "not_found", "missing");
    expect_error(call_path(client, "CreateWatcher", "file", 400), "invalid_argument",
                 "not a directory");
    expect_error(call(client, "GetWatcherEvents", "{}", 400), "invalid_argument", "watcherId");
    expect_error(ask(client, "GetWatcherEvents", "w1", 404), "not_found",
                 "watcher with id w1 not found");
    expect_error(ask(client, "RemoveWatcher", "", 404), "not_found", "not found");
    disconnect(client);
}

static void says_how_it_ended(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    mkdir(below("w"), 0755);
    char *id = create(client, "{\"path\":\"w\"}");
    rmdir(below("w"));
    expect_changes(client, id, 1, "REMOVE .\n");
    struct answer answer = {.status = 200};
    for (int tries = 0; answer.status == 200 && tries < 1000; tries++) {
        char body[100];
        snprintf(body, sizeof body, "{\"watcherId\":\"%s\"}", id);
        send_call(client, "GetWatcherEvents", body);
        answer = read_answer(client, false);
        free(answer.body);
        usleep(2000);
    }
    assert_int_equal(answer.status, 404);
    expect_error(ask(client, "GetWatcherEvents", id, 404), "not_found", "was removed");
    json_decref(ask(client, "RemoveWatcher", id, 200));
    free(id);
    disconnect(client);
}

static void bounds_what_waits_for_a_question(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    mkdir(below("w"), 0755);
    char *id = create(client, "{\"path\":\"w\"}"), path[300], body[100];
    for (int i = 0; i < 60000; i++) {
        snprintf(path, sizeof path, "%s/w/%d", directory, i % 10);
        make_file_at(path);
        unlink(path);
    }
    snprintf(body, sizeof body, "{\"watcherId\":\"%s\"}", id);
    size_t first = 0;
    struct answer answer = {.status = 200};
    for (int tries = 0; answer.status == 200 && tries < 1000; tries++) {
        send_call(client, "GetWatcherEvents", body);
        answer = read_answer(client, false);
        if (!first)
            first = answer.length;
        assert_true(answer.length < 1200000);
        if (answer.status != 200)
            assert_non_null(strstr(answer.body, "resource_exhausted"));
        free(answer.body);
        usleep(2000);
    }
    assert_int_equal(answer.status, 429);
    assert_true(first > 500000);
    free(id);
    disconnect(client);
}

static void bounds_how_many_there_are(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    int made = 0;
    struct answer answer = {.status = 200};
    for (; answer.status == 200 && made < 300; made++) {
        send_call(client, "CreateWatcher", "{\"path\":\"\"}");
        answer = read_answer(client, false);
        if (answer.status != 200)
            assert_non_null(strstr(answer.body, "resource_exhausted"));
        free(answer.body);
    }
    assert_int_equal(answer.status, 429); /* ours, or the kernel's when that is less */
    assert_true(made > 20 && made <= 257);
    disconnect(client);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(tells_changes_when_asked),
        TEST(takes_both_names_of_members),
        TEST(names_what_is_wrong),
        TEST(says_how_it_ended),
        TEST(bounds_what_waits_for_a_question),
        TEST(bounds_how_many_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
