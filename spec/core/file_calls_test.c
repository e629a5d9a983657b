/* Questions about files, against servers that answer well, badly, or with failures. */
#include "connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define STAT "POST /filesystem.Filesystem/Stat"
#define LIST "POST /filesystem.Filesystem/ListDir"
#define MAKE "POST /filesystem.Filesystem/MakeDir"
#define MOVE "POST /filesystem.Filesystem/Move"
#define REMOVE "POST /filesystem.Filesystem/Remove"
#define COMPOSE "POST /files/compose"
#define JSON "Content-Type: application/json\r\n"

/* Waits for op and leaves it for the test to look at and free. */
static sb_op *finish(struct connection *c, sb_op *op) {
    assert_non_null(op);
    c->error = (sb_error){0};
    sb_op_wait(op, &c->error);
    return op;
}

static void check_code(struct connection *c, sb_op *op, sb_code code) {
    sb_code got = connection_end(c, op);
    if (got != code) {
        fail_msg("%s instead of %s: %s", sb_code_name(got), sb_code_name(code), c->error.message);
    }
}

static void an_entry_has_all_that_the_server_says(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, STAT, "200 OK", JSON,
                     "{\"entry\":{\"name\":\"\xc3\xa9 x\",\"type\":\"FILE_TYPE_SYMLINK\","
                     "\"path\":\"/home/user/\xc3\xa9 x\",\"size\":\"5000000000\",\"mode\":33188,"
                     "\"permissions\":\"Lrw-r--r--\",\"owner\":\"user\",\"group\":\"staff\","
                     "\"modifiedTime\":\"2026-11-30T08:01:30.000000007Z\","
                     "\"symlinkTarget\":\"/else\",\"metadata\":{\"a\":\"1\",\"b\":\"\"},"
                     "\"unheardOf\":[1]}}");
    sb_op *op = finish(c, sb_file_info(c->box, "\xc3\xa9 x", NULL, &c->error));
    const sb_entry *entry = sb_op_entry(op, 0);
    assert_int_equal(sb_op_entry_count(op), 1);
    assert_null(sb_op_entry(op, 1));
    assert_string_equal(entry->name, "\xc3\xa9 x");
    assert_string_equal(entry->path, "/home/user/\xc3\xa9 x");
    assert_int_equal(entry->type, SB_FILE_SYMLINK);
    assert_true(entry->size == 5000000000);
    assert_int_equal(entry->mode, 0644);
    assert_string_equal(entry->permissions, "Lrw-r--r--");
    assert_string_equal(entry->owner, "user");
    assert_string_equal(entry->group, "staff");
    assert_string_equal(entry->symlink_target, "/else");
    assert_true(entry->modified_at == 1796025690);
    assert_int_equal(entry->modified_ns, 7);
    assert_int_equal(entry->metadata_count, 2);
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "\r\n\r\n{\"path\":\"\xc3\xa9 x\"}"), 1);
    assert_int_equal(server_count(c->server, "Connect-Protocol-Version: 1\r\n"), 1);
    assert_int_equal(server_count(c->server, "X-Access-Token: token\r\n"), 1);
    assert_int_equal(server_count(c->server, "Host: 49983-i123.stepbox\r\n"), 1);
}

static void what_an_entry_leaves_out_has_its_default(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, STAT, "200 OK", JSON,
                     "{\"entry\":{\"path\":\"/x\",\"type\":1,\"size\":7,\"symlinkTarget\":null}}");
    sb_op *op = finish(c, sb_file_info(c->box, "/x", NULL, &c->error));
    const sb_entry *entry = sb_op_entry(op, 0);
    assert_int_equal(entry->type, SB_FILE_REGULAR);
    assert_true(entry->size == 7);
    assert_string_equal(entry->name, "");
    assert_string_equal(entry->owner, "");
    assert_null(entry->symlink_target);
    assert_true(entry->modified_at == 0);
    sb_op_free(op);
    server_add_reply(c->server, STAT, "200 OK", JSON,
                     "{\"entry\":{\"path\":\"/x\",\"type\":\"FILE_TYPE_PORTAL\"}}");
    op = finish(c, sb_file_info(c->box, "/x", NULL, &c->error));
    assert_int_equal(sb_op_entry(op, 0)->type, SB_FILE_OTHER);
    sb_op_free(op);
}

static void rubbish_instead_of_entries_is_told(void **state) {
    struct connection *c = *state;
    static const char *const answers[] = {
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"entry\":null}",
        "{\"entry\":[]}",
        "{\"entry\":[{\"path\":\"/x\"}]}",
        "{\"entry\":7}",
        "{\"entry\":{}}",
        "{\"entry\":{\"path\":7}}",
        "{\"entry\":{\"path\":\"\"}}",
        "{\"entry\":{\"path\":\"/x\",\"name\":{}}}",
        "{\"entry\":{\"path\":\"/x\",\"size\":\"\"}}",
        "{\"entry\":{\"path\":\"/x\",\"size\":\"1x\"}}",
        "{\"entry\":{\"path\":\"/x\",\"size\":\"99999999999999999999\"}}",
        "{\"entry\":{\"path\":\"/x\",\"size\":-1}}",
        "{\"entry\":{\"path\":\"/x\",\"size\":1.5}}",
        "{\"entry\":{\"path\":\"/x\",\"mode\":true}}",
        "{\"entry\":{\"path\":\"/x\",\"type\":{}}}",
        "{\"entry\":{\"path\":\"/x\",\"modifiedTime\":\"yesterday\"}}",
        "{\"entry\":{\"path\":\"/x\",\"modifiedTime\":1}}",
        "{\"entry\":{\"path\":\"/x\",\"metadata\":[]}}",
        "{\"entry\":{\"path\":\"/x\",\"metadata\":{\"a\":1}}}",
        "{\"entry\":{\"path\":\"/x\\u0000y\"}}",
        "{\"entry\":{\"path\":\"/\xff\"}}",
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        server_add_reply(c->server, STAT, "200 OK", JSON, answers[i]);
        sb_op *op = finish(c, sb_file_info(c->box, "/x", NULL, &c->error));
        if (c->error.code != SB_PROTOCOL) {
            fail_msg("%s: %s", answers[i], sb_code_name(c->error.code));
        }
        assert_int_equal(sb_op_entry_count(op), 0);
        sb_op_free(op);
    }
}

static void a_listing_has_its_entries_in_order(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, LIST, "200 OK", JSON,
                     "{\"entries\":[{\"path\":\"/b\",\"type\":\"FILE_TYPE_DIRECTORY\"},"
                     "{\"path\":\"/a\",\"type\":\"FILE_TYPE_FILE\"}]}");
    sb_op *op = finish(c, sb_file_list(c->box, "/", 3, "me", &c->error));
    assert_int_equal(sb_op_entry_count(op), 2);
    assert_string_equal(sb_op_entry(op, 0)->path, "/b");
    assert_int_equal(sb_op_entry(op, 0)->type, SB_FILE_DIRECTORY);
    assert_string_equal(sb_op_entry(op, 1)->path, "/a");
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "{\"path\":\"/\",\"depth\":3}"), 1);
    assert_int_equal(server_count(c->server, "Authorization: Basic bWU6\r\n"), 1);
    server_add_reply(c->server, LIST, "200 OK", JSON, "{\"entries\":{\"path\":\"/x\"}}");
    check_code(c, sb_file_list(c->box, "/x", 1, NULL, &c->error), SB_PROTOCOL);
    server_add_reply(c->server, LIST, "200 OK", JSON, "{}");
    op = finish(c, sb_file_list(c->box, "/empty", 1, NULL, &c->error));
    assert_int_equal(c->error.code, SB_OK);
    assert_int_equal(sb_op_entry_count(op), 0);
    sb_op_free(op);
}

static void making_tells_whether_it_was_there(void **state) {
    struct connection *c = *state;
    server_add_reply(c->server, MAKE, "200 OK", JSON, "{\"entry\":{\"path\":\"/d\"}}");
    sb_op *op = finish(c, sb_file_make_dir(c->box, "/d", NULL, &c->error));
    assert_true(sb_op_flag(op));
    sb_op_free(op);
    server_add_reply(c->server, MAKE, "409 Conflict", JSON,
                     "{\"code\":\"already_exists\",\"message\":\"directory already exists: /d\"}");
    op = finish(c, sb_file_make_dir(c->box, "/d", NULL, &c->error));
    assert_int_equal(c->error.code, SB_OK);
    assert_false(sb_op_flag(op));
    sb_op_free(op);
}

static void renaming_removing_and_joining_travel_as_data(void **state) {
    struct connection *c = *state;
    const char *sources[] = {"a\nb", "\"c\""};
    server_add_reply(c->server, MOVE, "200 OK", JSON, "{\"entry\":{\"path\":\"/to\"}}");
    sb_op *op = finish(c, sb_file_rename(c->box, "/from", "/to", NULL, &c->error));
    assert_string_equal(sb_op_entry(op, 0)->path, "/to");
    sb_op_free(op);
    assert_int_equal(server_count(c->server, "{\"source\":\"/from\",\"destination\":\"/to\"}"), 1);
    server_add_reply(c->server, REMOVE, "200 OK", JSON, "{}");
    check_code(c, sb_file_remove(c->box, "/x", NULL, &c->error), SB_OK);
    server_add_reply(c->server, COMPOSE, "200 OK", JSON,
                     "{\"path\":\"/all\",\"name\":\"all\",\"type\":\"file\"}");
    op = finish(c, sb_file_compose(c->box, sources, 2, "/all", "me", &c->error));
    assert_string_equal(sb_op_entry(op, 0)->name, "all");
    assert_int_equal(sb_op_entry(op, 0)->type, SB_FILE_REGULAR);
    sb_op_free(op);
    assert_int_equal(server_count(c->server,
                                  "{\"source_paths\":[\"a\\nb\",\"\\\"c\\\"\"],\"destination\":"
                                  "\"/all\",\"username\":\"me\"}"),
                     1);
}

/* An error of the protocol, as the services of a sandbox tell it. */
static void check_service(struct connection *c, const char *status, const char *code,
                          const char *message, sb_code expected) {
    char body[500];
    snprintf(body, sizeof body, "{\"code\":\"%s\",\"message\":\"%s\"}", code, message);
    server_add_reply(c->server, STAT, status, JSON, body);
    check_code(c, sb_file_info(c->box, "/x", NULL, &c->error), expected);
}

static void failures_have_the_codes_of_files(void **state) {
    struct connection *c = *state;
    check_service(c, "404 Not Found", "not_found", "file not found", SB_NOT_FOUND);
    check_service(c, "403 Forbidden", "permission_denied", "no", SB_PERMISSION);
    check_service(c, "400 Bad Request", "invalid_argument", "path is not a directory: /x",
                  SB_NOT_DIRECTORY);
    check_service(c, "400 Bad Request", "invalid_argument", "path is a file: /x", SB_NOT_DIRECTORY);
    check_service(c, "400 Bad Request", "invalid_argument", "is a directory", SB_IS_DIRECTORY);
    check_service(c, "400 Bad Request", "failed_precondition", "cyclic symlink or chain",
                  SB_BAD_PATH);
    check_service(c, "500 Error", "internal", "open /x: permission denied", SB_PERMISSION);
    check_service(c, "500 Error", "internal", "write /x: no space left on device", SB_NO_SPACE);
    check_service(c, "500 Error", "internal", "lstat /x: file name too long", SB_BAD_PATH);
    check_service(c, "500 Error", "internal", "stat /x: too many levels of symbolic links",
                  SB_BAD_PATH);
    check_service(c, "500 Error", "internal", "rename: file exists", SB_EXISTS);
    check_service(c, "400 Bad Request", "invalid_argument", "something else", SB_INVALID);
    check_service(c, "401 Unauthorized", "unauthenticated", "invalid username", SB_UNAUTHORIZED);
    check_service(c, "503 Gone", "unavailable", "later", SB_UNAVAILABLE);
    /* A name that reads like another failure changes nothing of a code that is clear. */
    check_service(c, "404 Not Found", "not_found", "no such file: permission denied", SB_NOT_FOUND);
}

/* An error of the plain calls. */
static void check_plain(struct connection *c, const char *status, const char *body,
                        sb_code expected) {
    const char *source = "/a";
    server_add_reply(c->server, COMPOSE, status, JSON, body);
    check_code(c, sb_file_compose(c->box, &source, 1, "/b", NULL, &c->error), expected);
}

static void plain_calls_have_them_too(void **state) {
    struct connection *c = *state;
    check_plain(c, "404 Not Found", "{\"message\":\"source file not found: /a\",\"code\":404}",
                SB_NOT_FOUND);
    check_plain(c, "507 Storage", "{\"message\":\"full\",\"code\":507}", SB_NO_SPACE);
    check_plain(c, "403 Forbidden", "{\"message\":\"no\",\"code\":403}", SB_PERMISSION);
    check_plain(c, "400 Bad", "{\"message\":\"path '/b' is a directory\",\"code\":400}",
                SB_IS_DIRECTORY);
    check_plain(c, "500 Bad", "{\"message\":\"open /b: permission denied\",\"code\":500}",
                SB_PERMISSION);
    check_plain(c, "401 No", "{\"message\":\"unknown user\",\"code\":401}", SB_UNAUTHORIZED);
    check_plain(c, "404 Not Found", "404 page not found\n", SB_UNSUPPORTED);
}

static void a_sandbox_that_is_gone_is_no_file_that_is_not_there(void **state) {
    struct connection *c = *state;
    const char *gone = "{\"sandboxId\":\"i123\",\"message\":\"The sandbox was not found\","
                       "\"code\":502}";
    server_add_reply(c->server, STAT, "502 Bad Gateway", JSON, gone);
    check_code(c, sb_file_info(c->box, "/x", NULL, &c->error), SB_SANDBOX_LOST);
    server_add_reply(c->server, "GET /files", "502 Bad Gateway", JSON, gone);
    check_code(c, sb_file_read(c->box, "/x", NULL, &c->error), SB_SANDBOX_LOST);
    server_add_reply(c->server, "GET /files", "404 Not Found", JSON,
                     "{\"sandboxId\":\"i123\",\"message\":\"The sandbox was not found\","
                     "\"code\":404}");
    check_code(c, sb_file_read(c->box, "/x", NULL, &c->error), SB_SANDBOX_LOST);
    server_add(c->server, STAT, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", ANSWER_CLOSE);
    check_code(c, sb_file_info(c->box, "/x", NULL, &c->error), SB_SANDBOX_LOST);
}

static void what_cannot_be_a_path_is_not_asked_for(void **state) {
    struct connection *c = *state;
    char *endless = malloc(100001);
    memset(endless, 'x', 100000);
    endless[100000] = '\0';
    const char *paths[] = {NULL, "", "\xff", "a\xc3", endless}, *good = "/x";
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *path = paths[i];
        assert_null(sb_file_info(c->box, path, NULL, &c->error));
        assert_int_equal(c->error.code, SB_BAD_PATH);
        assert_null(sb_file_list(c->box, path, 1, NULL, &c->error));
        assert_null(sb_file_make_dir(c->box, path, NULL, &c->error));
        assert_null(sb_file_remove(c->box, path, NULL, &c->error));
        assert_null(sb_file_rename(c->box, path, good, NULL, &c->error));
        assert_null(sb_file_rename(c->box, good, path, NULL, &c->error));
        assert_null(sb_file_compose(c->box, &path, 1, good, NULL, &c->error));
        assert_null(sb_file_compose(c->box, &good, 1, path, NULL, &c->error));
        assert_null(sb_watch(c->box, path, NULL, &c->error));
        assert_int_equal(c->error.code, SB_BAD_PATH);
    }
    free(endless);
    assert_null(sb_file_list(c->box, good, 0, NULL, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
    assert_null(sb_file_compose(c->box, &good, 0, good, NULL, &c->error));
    assert_null(sb_file_info(c->box, good, "a:b", &c->error));
    assert_null(sb_file_info(c->box, good, "", &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
    assert_int_equal(server_count(c->server, "49983"), 0);
}

static void a_closed_box_says_so(void **state) {
    struct connection *c = *state;
    const char *source = "/a";
    check_code(c, sb_box_kill(c->box, &c->error), SB_OK);
    check_code(c, sb_file_info(c->box, "/x", NULL, &c->error), SB_CLOSED);
    check_code(c, sb_file_read(c->box, "/x", NULL, &c->error), SB_CLOSED);
    check_code(c, sb_file_write(c->box, "/x", NULL, &c->error), SB_CLOSED);
    check_code(c, sb_file_compose(c->box, &source, 1, "/x", NULL, &c->error), SB_CLOSED);
    check_code(c, sb_watch(c->box, "/x", NULL, &c->error), SB_CLOSED);
    assert_null(sb_file_url_path(c->box, "/x", false, NULL, 0, &c->error));
    assert_int_equal(c->error.code, SB_CLOSED);
}

/* The values of the official SDK for the same arguments. */
static void urls_are_signed_as_others_sign_them(void **state) {
    struct connection *c = *state;
    char *url = sb_file_url_path(c->box, "/a b", false, "me", 0, &c->error);
    assert_string_equal(url, "/files?path=%2Fa%20b&username=me&signature="
                             "v1_YyBSelsp%2FfZjtiu5Kkni7FmAIm3pYR09Cb0mQU6gjdQ");
    free(url);
    url = sb_file_url_path(c->box, "x", true, "me", 1800000000, &c->error);
    assert_string_equal(
        url, "/files?path=x&username=me&signature="
             "v1_Wyy%2BGJ9jihB05yBSuqauxJTARNtLxfPjbqkwis6M9jY&signature_expiration=1800000000");
    free(url);
}

static void urls_are_made_for_addresses_alone(void **state) {
    struct connection *c = *state;
    char expected[100];
    char *url = sb_file_url(c->box, "x", true, "me", 0, &c->error);
    if (c->server->port == 0) {
        assert_null(url);
        assert_int_equal(c->error.code, SB_UNSUPPORTED);
        return;
    }
    snprintf(expected, sizeof expected, "http://127.0.0.1:%d/files?path=x&", c->server->port);
    assert_memory_equal(url, expected, strlen(expected));
    free(url);
    assert_null(sb_file_url(c->box, "", true, NULL, 0, &c->error));
    assert_int_equal(c->error.code, SB_BAD_PATH);
    assert_null(sb_file_url(c->box, "x", true, "a:b", 0, &c->error));
    assert_null(sb_file_url(c->box, "x", true, NULL, -1, &c->error));
    assert_int_equal(c->error.code, SB_INVALID);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, connection_set_up, connection_tear_down)
#define TCP_TEST(name)                                                                             \
    cmocka_unit_test_setup_teardown(name, connection_set_up_tcp, connection_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_entry_has_all_that_the_server_says),
        TEST(what_an_entry_leaves_out_has_its_default),
        TEST(rubbish_instead_of_entries_is_told),
        TEST(a_listing_has_its_entries_in_order),
        TEST(making_tells_whether_it_was_there),
        TEST(renaming_removing_and_joining_travel_as_data),
        TEST(failures_have_the_codes_of_files),
        TEST(plain_calls_have_them_too),
        TEST(a_sandbox_that_is_gone_is_no_file_that_is_not_there),
        TEST(what_cannot_be_a_path_is_not_asked_for),
        TEST(a_closed_box_says_so),
        TEST(urls_are_signed_as_others_sign_them),
        TEST(urls_are_made_for_addresses_alone),
        TCP_TEST(urls_are_made_for_addresses_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
