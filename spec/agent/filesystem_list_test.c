/* filesystem_list_test.c - listing directories: order, depth, links, names, many entries. */
#include "filesystem_fixture.h"

static json_t *list(struct client *client, const char *path, int depth) {
    json_t *answer =
        call_with(client, "ListDir", json_pack("{s:s, s:i}", "path", path, "depth", depth), 200);
    json_t *entries = json_incref(json_object_get(answer, "entries"));
    assert_true(json_is_array(entries));
    json_decref(answer);
    return entries;
}

/* Takes the list: paths below the directory, in their order, one a line. */
static void expect_paths(json_t *entries, const char *top, const char *expected) {
    char text[4000] = "";
    size_t index;
    json_t *entry;
    json_array_foreach(entries, index, entry) {
        const char *path = text_member(entry, "path");
        assert_memory_equal(path, top, strlen(top));
        strcat(text, path + strlen(top));
        strcat(text, "\n");
    }
    assert_string_equal(text, expected);
    json_decref(entries);
}

static void make_tree(void) {
    mkdir(below("t"), 0755);
    mkdir(below("t/b"), 0755);
    mkdir(below("t/b/c"), 0755);
    write_file("t/b/c/d", "");
    write_file("t/b/a", "");
    write_file("t/b.txt", "");
    write_file("t/a", "");
    write_file("t/Z", "");
    mkdir(below("t/empty"), 0755);
}

static void lists_in_order_of_bytes(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    make_tree();
    expect_paths(list(client, "t", 1), below("t"), "/Z\n/a\n/b\n/b.txt\n/empty\n");
    expect_paths(list(client, "t", 0), below("t"), "/Z\n/a\n/b\n/b.txt\n/empty\n");
    expect_paths(list(client, "t", 2), below("t"), "/Z\n/a\n/b\n/b/a\n/b/c\n/b.txt\n/empty\n");
    expect_paths(list(client, "t", 99), below("t"),
                 "/Z\n/a\n/b\n/b/a\n/b/c\n/b/c/d\n/b.txt\n/empty\n");
    expect_paths(list(client, "t/empty", 5), below("t"), "");
    disconnect(client);
}

static void shows_the_path_that_was_asked_for(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    char path[300];
    make_tree();
    assert_int_equal(symlink("t", below("link")), 0);
    assert_int_equal(symlink("b", below("t/inner")), 0);
    expect_paths(list(client, "link/b", 2), below("link/b"), "/a\n/c\n/c/d\n");
    expect_paths(list(client, "link", 1), below("link"), "/Z\n/a\n/b\n/b.txt\n/empty\n/inner\n");
    snprintf(path, sizeof path, "%s/t/b//", directory);
    expect_paths(list(client, path, 1), below("t/b"), "/a\n/c\n");
    disconnect(client);
}

static void lists_the_root(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    json_t *entries = list(client, "/", 1), *entry;
    size_t index, found = 0;
    json_array_foreach(entries, index, entry) {
        if (strcmp(text_member(entry, "path"), "/proc") == 0 &&
            strcmp(text_member(entry, "name"), "proc") == 0)
            found++;
    }
    assert_int_equal(found, 1);
    json_decref(entries);
    disconnect(client);
}

static void does_not_follow_links_in_it(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    mkdir(below("t"), 0755);
    mkdir(below("t/dir"), 0755);
    write_file("t/dir/file", "");
    assert_int_equal(symlink("dir", below("t/link")), 0);
    assert_int_equal(symlink("..", below("t/dir/up")), 0);
    assert_int_equal(symlink("circle", below("t/circle")), 0);
    expect_paths(list(client, "t", 50), below("t"), "/circle\n/dir\n/dir/file\n/dir/up\n/link\n");
    disconnect(client);
}

static void names_what_cannot_be_listed(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    char text[200];
    write_file("file", "");
    assert_int_equal(symlink("circle", below("circle")), 0);
    expect_error(call_path(client, "ListDir", "missing", 404), "not_found", below("missing"));
    expect_error(call_path(client, "ListDir", "file", 400), "invalid_argument",
                 "path is not a directory: ");
    expect_error(call_path(client, "ListDir", "circle", 400), "failed_precondition", "cyclic");
    static const char *const bad[] = {"-1", "1.5", "\"x\"", "\"\"", "4294967296", "[]", "true"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "{\"path\":\"\",\"depth\":%s}", bad[i]);
        expect_error(call(client, "ListDir", text, 400), "invalid_argument", "depth");
    }
    json_decref(call(client, "ListDir", "{\"path\":\"\",\"depth\":\"2\"}", 200));
    json_decref(call(client, "ListDir", "{\"path\":\"\",\"depth\":4294967295}", 200));
    disconnect(client);
}

static void shows_names_of_any_bytes(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    mkdir(below("t"), 0755);
    write_file("t/new\nline", "");
    write_file("t/quo\"te\\", "");
    write_file("t/\xc3\xa9", "");
    write_file("t/\xff", "");
    write_file("t/a b", "");
    expect_paths(list(client, "t", 1), below("t"),
                 "/a b\n/new\nline\n/quo\"te\\\n/\xc3\xa9\n/\xef\xbf\xbd\n");
    disconnect(client);
}

static void lists_many_entries_and_answers_others_meanwhile(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client), *other = connect_envd(&from_client);
    char path[300], name[30];
    mkdir(below("many"), 0755);
    for (int i = 0; i < 20000; i++) {
        snprintf(path, sizeof path, "%s/many/%05d", directory, i);
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    send_call(client, "ListDir", "{\"path\":\"many\"}");
    get(other, "/health");
    double began = now();
    assert_int_equal(read_answer(other, false).status, 204);
    assert_true(!has_answer(client) || now() - began < 0.1);
    json_t *answer = take_message(client, 200), *entries = json_object_get(answer, "entries");
    assert_int_equal(json_array_size(entries), 20000);
    for (int i = 0; i < 20000; i += 999) {
        snprintf(name, sizeof name, "%05d", i);
        assert_string_equal(text_member(json_array_get(entries, (size_t)i), "name"), name);
    }
    json_decref(answer);
    disconnect(client);
    disconnect(other);
}

static void refuses_lists_without_a_bound(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    char from[300], path[300];
    /* Links are made faster than files. */
    for (int d = 0; d < 4; d++) {
        snprintf(path, sizeof path, "%s/d%d", directory, d);
        mkdir(path, 0755);
        snprintf(from, sizeof from, "%s/d%d/first", directory, d);
        make_file_at(from);
        for (int i = 0; i < 26000; i++) {
            snprintf(path, sizeof path, "%s/d%d/%d", directory, d, i);
            assert_int_equal(link(from, path), 0);
        }
    }
    expect_error(call(client, "ListDir", "{\"path\":\"\",\"depth\":2}", 429), "resource_exhausted",
                 "larger than 100000 entries");
    disconnect(client);
}

static void stops_when_the_client_leaves(void **state) {
    (void)state;
    int descriptors = count_descriptors();
    for (int i = 0; i < 20; i++) {
        struct client *client = connect_envd(&from_client);
        send_call(client, "ListDir", "{\"path\":\"/usr\",\"depth\":20}");
        usleep(2000);
        disconnect(client);
    }
    for (int i = 0; i < 1000 && count_descriptors() > descriptors; i++)
        usleep(2000);
    assert_int_equal(count_descriptors(), descriptors);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(lists_in_order_of_bytes),
        TEST(shows_the_path_that_was_asked_for),
        TEST(lists_the_root),
        TEST(does_not_follow_links_in_it),
        TEST(names_what_cannot_be_listed),
        TEST(shows_names_of_any_bytes),
        TEST(lists_many_entries_and_answers_others_meanwhile),
        TEST(refuses_lists_without_a_bound),
        TEST(stops_when_the_client_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
