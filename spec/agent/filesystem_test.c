/* filesystem_test.c - calls about single files: stat, making directories, renaming; their errors.
 */
#include "filesystem_fixture.h"

static void tells_what_a_path_is(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    write_file("file", "12345");
    json_t *answer = call_path(client, "Stat", "file", 200),
           *entry = json_object_get(answer, "entry");
    assert_string_equal(text_member(entry, "name"), "file");
    assert_string_equal(text_member(entry, "path"), below("file"));
    assert_string_equal(text_member(entry, "size"), "5");
    assert_string_equal(text_member(entry, "type"), "FILE_TYPE_FILE");
    json_decref(answer);
    answer = call_path(client, "Stat", "", 200);
    assert_string_equal(text_member(json_object_get(answer, "entry"), "path"), directory);
    json_decref(answer);
    answer = call_path(client, "Stat", "~/python", 200);
    assert_string_equal(text_member(json_object_get(answer, "entry"), "type"),
                        "FILE_TYPE_DIRECTORY");
    json_decref(answer);
    disconnect(client);
}

static void names_what_is_wrong_with_a_path(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    char body[PATH_MAX + 100], name[300];
    write_file("file", "");
    assert_int_equal(symlink("loop", below("loop")), 0);
    expect_error(call_path(client, "Stat", "missing", 404), "not_found", below("missing"));
    expect_error(call_path(client, "Stat", "file/x", 404), "not_found", "file not found");
    expect_error(call_path(client, "Stat", "loop/x", 400), "failed_precondition", "loop/x");
    expect_error(call_path(client, "Stat", "~other/x", 400), "invalid_argument", "other users");
    expect_error(call(client, "Stat", "{\"path\":\"a\\u0000b\"}", 400), "invalid_argument", "NUL");
    expect_error(call(client, "Stat", "{\"path\":5}", 400), "invalid_argument",
                 "path must be a string");
    memset(name, 'n', sizeof name);
    name[299] = '\0';
    expect_error(call_path(client, "Stat", name, 400), "invalid_argument", "ile name too long");
    snprintf(body, sizeof body, "{\"path\":\"/%0*d\"}", PATH_MAX, 0);
    expect_error(call(client, "Stat", body, 400), "invalid_argument", "too long");
    expect_error(call(client, "Stat", "{bad", 400), "invalid_argument", "");
    expect_error(call(client, "Stat", "", 400), "invalid_argument", "");
    expect_error(call(client, "Stat", "[]", 400), "invalid_argument", "not an object");
    json_decref(call(client, "Stat", "{\"path\":null,\"later\":[1]}", 200));
    disconnect(client);
}

static void takes_json_of_known_users_only(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    static const char path[] = "/filesystem.Filesystem/Stat";
    request(client, "POST", path, "Content-Type: application/proto\r\n", "{}", 2);
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 415);
    assert_non_null(strcasestr(answer.head, "\r\nAccept-Post: application/json\r\n"));
    free(answer.body);
    request(client, "POST", path,
            "Content-Type: application/json; charset=utf-8\r\nContent-Encoding: gzip\r\n", "{}", 2);
    expect_error(take_message(client, 501), "unimplemented", "compressed");
    request(client, "POST", path,
            "Content-Type: application/json\r\nAuthorization: Basic bm9ib2R5Og==\r\n", "{}", 2);
    expect_error(take_message(client, 401), "unauthenticated", "no such user");
    request(client, "POST", path,
            "Content-Type: application/json; charset=utf-8\r\nAuthorization: Basic dXNlcjo=\r\n",
            "{}", 2);
    json_decref(take_message(client, 200));
    disconnect(client);
}

static void needs_the_access_token(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    agent.access_token = strdup("secret");
    expect_error(call(client, "Stat", "{}", 401), "unauthenticated", "token");
    expect_error(call(client, "Remove", "{}", 401), "unauthenticated", "token");
    disconnect(client);
}

static void makes_directories(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    json_t *answer = call_path(client, "MakeDir", "a/b c/d\n", 200);
    assert_string_equal(text_member(json_object_get(answer, "entry"), "type"),
                        "FILE_TYPE_DIRECTORY");
    assert_string_equal(text_member(json_object_get(answer, "entry"), "path"), below("a/b c/d\n"));
    json_decref(answer);
    expect_error(call_path(client, "MakeDir", "a/b c/d\n", 409), "already_exists",
                 "directory already exists: ");
    write_file("file", "");
    expect_error(call_path(client, "MakeDir", "file", 400), "invalid_argument",
                 "path already exists but it is not a directory: ");
    expect_error(call_path(client, "MakeDir", "file/x", 400), "invalid_argument",
                 "not a directory");
    expect_error(call_path(client, "MakeDir", "/proc/none/x", 404), "not_found", "/proc/none");
    assert_int_equal(symlink("nowhere", below("lost")), 0);
    expect_error(call_path(client, "MakeDir", "lost", 400), "invalid_argument", "not a directory");
    disconnect(client);
}

static json_t *move(struct client *client, const char *from, const char *to, int status) {
    return call_with(client, "Move", json_pack("{s:s, s:s}", "source", from, "destination", to),
                     status);
}

static void renames(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    write_file("one", "1");
    write_file("two", "22");
    json_t *answer = move(client, "one", "new/parent/three", 200);
    assert_string_equal(text_member(json_object_get(answer, "entry"), "path"),
                        below("new/parent/three"));
    json_decref(answer);
    assert_int_not_equal(access(below("one"), F_OK), 0);
    json_decref(move(client, "new/parent/three", "two", 200)); /* over a file */
    answer = call_path(client, "Stat", "two", 200);
    assert_string_equal(text_member(json_object_get(answer, "entry"), "size"), "1");
    json_decref(answer);
    json_decref(move(client, "new", "newer", 200));
    assert_int_equal(access(below("newer/parent"), F_OK), 0);
    json_decref(move(client, "newer", "newer", 200));
    disconnect(client);
}

static void tells_why_it_cannot_rename(void **state) {
    (void)state;
    struct client *client = connect_envd(&from_client);
    write_file("file", "");
    mkdir(below("dir"), 0755);
    mkdir(below("other"), 0755);
    expect_error(move(client, "missing", "x/y", 404), "not_found", "source file not found");
    assert_int_not_equal(access(below("x"), F_OK), 0);
    expect_error(move(client, "file", "dir", 409), "already_exists", "ile exists");
    expect_error(move(client, "other", "dir", 409), "already_exists", "ile exists");
    expect_error(move(client, "dir", "file", 400), "invalid_argument", "not a directory");
    expect_error(move(client, "dir", "dir/below", 400), "invalid_argument", "dir");
    expect_error(move(client, "file", "file/x", 400), "invalid_argument", "not a directory");
    expect_error(move(client, "file", "~x", 400), "invalid_argument", "destination");
    disconnect(client);
}

/* A directory on another file system than the home directory, or NULL. */
static const char *elsewhere(char *path) {
    struct stat here, there;
    strcpy(path, "/dev/shm/stepbox-agent-test.XXXXXX");
    if (stat(directory, &here) || stat("/dev/shm", &there) || here.st_dev == there.st_dev)
        return NULL;
    return mkdtemp(path);
}

static void moves_across_file_systems(void **state) {
    (void)state;
    char other[60], to[100], command[100];
    if (!elsewhere(other))
        skip();
    struct client *client = connect_envd(&from_client);
    mkdir(below("tree"), 0755);
    write_file("tree/a", "text");
    assert_int_equal(symlink("a", below("tree/link")), 0);
    snprintf(to, sizeof to, "%s/tree", other);
    json_t *answer = move(client, "tree", to, 200);
    assert_string_equal(text_member(json_object_get(answer, "entry"), "path"), to);
    json_decref(answer);
    assert_int_not_equal(access(below("tree"), F_OK), 0);
    snprintf(to, sizeof to, "%s/tree/link", other);
    assert_int_equal(readlink(to, command, sizeof command), 1);
    write_file("file", "");
    expect_error(move(client, "file", "/proc/none", 404), "not_found", "/proc/none");
    assert_int_equal(access(below("file"), F_OK), 0);
    snprintf(command, sizeof command, "rm -r '%s'", other);
    run_shell(command);
    assert_int_not_equal(access(other, F_OK), 0);
    disconnect(client);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(tells_what_a_path_is),
        TEST(names_what_is_wrong_with_a_path),
        TEST(takes_json_of_known_users_only),
        TEST(needs_the_access_token),
        TEST(makes_directories),
        TEST(renames),
        TEST(tells_why_it_cannot_rename),
        TEST(moves_across_file_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
