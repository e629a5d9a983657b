/* files_compose_test.c - POST /files/compose. */
#include "files_fixture.h"

#include <dirent.h>

static struct answer compose(const char *body) {
    return ask("POST", "/files/compose", "Content-Type: application/json\r\n", body, strlen(body));
}

/* How many entries the home has. */
static int count_entries(void) {
    DIR *home = opendir(directory);
    int count = 0;
    while (readdir(home))
        count++;
    closedir(home);
    return count;
}

static void joins_files_in_order(void **state) {
    (void)state;
    char expected[200];
    write_file("b", "second");
    write_file("a", "first ");
    write_file("empty", "");
    struct answer answer =
        compose("{\"source_paths\":[\"a\",\"~/empty\",\"b\"],\"destination\":\"new/dir/joined\"}");
    assert_int_equal(answer.status, 200);
    snprintf(expected, sizeof expected,
             "{\"path\":\"%s/new/dir/joined\",\"name\":\"joined\",\"type\":\"file\"}", directory);
    assert_string_equal(answer.body, expected);
    free(answer.body);
    expect_file("new/dir/joined", "first second", 12);
    assert_false(exists("a") || exists("b") || exists("empty"));
    /* Over a file, one source twice. */
    write_file("c", "x");
    answer = compose("{\"source_paths\":[\"c\",\"c\"],\"destination\":\"new/dir/joined\","
                     "\"username\":\"user\"}");
    assert_int_equal(answer.status, 200);
    free(answer.body);
    expect_file("new/dir/joined", "xx", 2);
    assert_false(exists("c"));
}

static void leaves_everything_as_it_was_when_it_fails(void **state) {
    (void)state;
    char path[200], alias[200], body[600];
    write_file("a", "1");
    write_file("to", "kept");
    in_directory(path, sizeof path, "dir");
    mkdir(path, 0755);
    in_directory(path, sizeof path, "fifo");
    mkfifo(path, 0644);
    in_directory(path, sizeof path, "to");
    in_directory(alias, sizeof alias, "alias");
    assert_int_equal(symlink(path, alias), 0);
    int count = count_entries();
    static const struct {
        const char *sources, *destination;
        int status;
        const char *fault;
    } cases[] = {
        {"[]", "\"to\"", 400, "at least one"},
        {"\"a\"", "\"to\"", 400, "list"},
        {"[\"a\",1]", "\"to\"", 400, "must be paths"},
        {"[\"a\",\"\"]", "\"to\"", 400, "must be paths"},
        {"[\"a\\u0000\"]", "\"to\"", 400, "NUL"},
        {"[\"a\"]", "\"\"", 400, "destination"},
        {"[\"a\"]", "null", 400, "destination"},
        {"[\"a\",\"none\"]", "\"to\"", 404, "/none' does not exist"},
        {"[\"a\",\"dir\"]", "\"to\"", 400, "not a regular file"},
        {"[\"a\",\"fifo\"]", "\"to\"", 400, "not a regular file"},
        {"[\"a\",\"to\"]", "\"to\"", 400, "is the destination too"},
        {"[\"a\",\"./to\"]", "\"to\"", 400, "is the destination too"},
        {"[\"a\",\"alias\"]", "\"to\"", 400, "is the destination too"},
        {"[\"to\"]", "\"alias\"", 400, "is the destination too"},
        {"[\"a\"]", "\"dir\"", 400, "is a directory"},
        {"[\"a\"]", "\"to/x\"", 400, "not a directory"},
        {"[\"a\"]", "\"to\",\"username\":\"someone\"", 401, "user"},
        {"[\"a\"]", "\"to\",\"username\":1", 400, "username"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(body, sizeof body, "{\"source_paths\":%s,\"destination\":%s}", cases[i].sources,
                 cases[i].destination);
        expect_error(compose(body), cases[i].status, cases[i].fault);
    }
    expect_error(compose("[]"), 400, "object");
    expect_error(compose("{"), 400, "not JSON");
    expect_error(compose(""), 400, "not JSON");
    expect_file("a", "1", 1);
    expect_file("to", "kept", 4);
    assert_int_equal(count_entries(), count);
}

static void takes_the_longest_names(void **state) {
    (void)state;
    char name[256], body[600];
    memset(name, 'n', 255);
    name[255] = '\0';
    write_file("a", "1");
    snprintf(body, sizeof body, "{\"source_paths\":[\"a\"],\"destination\":\"%s\"}", name);
    struct answer answer = compose(body);
    assert_int_equal(answer.status, 200);
    free(answer.body);
    expect_file(name, "1", 1);
}

/* Makes a file of a size, most of it holes. */
static void make_large(const char *name, off_t size) {
    char path[200];
    write_file(name, "begin");
    in_directory(path, sizeof path, name);
    assert_int_equal(truncate(path, size), 0);
}

static void serves_others_while_it_copies(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client), *other = connect_envd(&from_client);
    make_large("big", 200000000);
    const char *body = "{\"source_paths\":[\"big\"],\"destination\":\"joined\"}";
    request_json(client, "POST", "/files/compose", body);
    usleep(2000);
    double start = now();
    request(other, "GET", "/health", "", "", 0);
    read_answer(other, false);
    double waited = now() - start;
    assert_true(exists("big"));
    assert_true(!has_answer(client) || waited < 0.1);
    struct answer answer = read_answer(client, false);
    print_message("    200 MB joined in %.0f ms; another request waited %.1f ms\n",
                  (now() - start) * 1e3, waited * 1e3);
    assert_int_equal(answer.status, 200);
    free(answer.body);
    assert_false(exists("big"));
    disconnect(client);
    disconnect(other);
}

static void gives_up_when_the_client_leaves(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    make_large("big", 2000000000);
    int count = count_entries();
    request_json(client, "POST", "/files/compose",
                 "{\"source_paths\":[\"big\"],\"destination\":\"joined\"}");
    for (double start = now(); count_entries() == count; usleep(500))
        assert_true(now() < start + 5);
    disconnect(client);
    for (double start = now(); count_entries() != count; usleep(1000))
        assert_true(now() < start + 2);
    assert_true(exists("big"));
    assert_false(exists("joined"));
}

static void asks_for_the_token_even_with_a_signature(void **state) {
    (void)state;
    agent.access_token = strdup("token");
    expect_error(ask("POST", "/files/compose?signature=v1_x", "", "{}", 2), 401, "token");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(joins_files_in_order),
        TEST(leaves_everything_as_it_was_when_it_fails),
        TEST(takes_the_longest_names),
        TEST(serves_others_while_it_copies),
        TEST(gives_up_when_the_client_leaves),
        TEST(asks_for_the_token_even_with_a_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
