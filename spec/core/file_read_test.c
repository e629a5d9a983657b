/* Reading files from servers that send them whole, in parts, badly or not at all. */
#include "connection.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define FILES "GET /files"
#define CONTENT "0123456789"

static void add_file(struct connection *c, const char *status, const char *headers,
                     const char *body) {
    server_add_reply(c->server, FILES, status, headers, body);
}

/* Reads and checks what came, also what came before a failure. */
static void check(struct connection *c, const sb_read_options *options, sb_code code,
                  const char *bytes) {
    size_t length;
    sb_op *op = sb_file_read(c->box, "/x", options, &c->error);
    assert_non_null(op);
    c->error = (sb_error){0};
    sb_op_wait(op, &c->error);
    if (c->error.code != code) {
        fail_msg("%s instead of %s: %s", sb_code_name(c->error.code), sb_code_name(code),
                 c->error.message);
    }
    const char *got = sb_op_bytes(op, &length);
    assert_int_equal(length, strlen(bytes));
    assert_memory_equal(got, bytes, length + 1);
    sb_op_free(op);
}

static void a_file_is_read_as_it_is(void **state) {
    struct connection *c = *state;
    add_file(c, "200 OK", "Content-Type: text/html\r\n", CONTENT);
    check(c, NULL, SB_OK, CONTENT);
    server_add_stream(c->server, FILES, "chunked", true, ANSWER_KEEP);
    check(c, NULL, SB_OK, "chunked");
    add_file(c, "200 OK", "", "");
    check(c, NULL, SB_OK, "");
    server_add_stream(c->server, FILES, "slow", true, ANSWER_SLOWLY);
    check(c, NULL, SB_OK, "slow");
    assert_int_equal(server_count(c->server, "Range:"), 0);
    assert_int_equal(server_count(c->server, "Accept-Encoding"), 0);
}

static void bytes_of_every_value_come(void **state) {
    struct connection *c = *state;
    char body[256];
    size_t length;
    for (int i = 0; i < 256; i++) {
        body[i] = (char)i;
    }
    server_add_stream_bytes(c->server, FILES, body, sizeof body, true, ANSWER_KEEP);
    sb_op *op = sb_file_read(c->box, "/x", NULL, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_memory_equal(sb_op_bytes(op, &length), body, 256);
    assert_int_equal(length, 256);
    sb_op_free(op);
}

static void any_name_is_asked_for(void **state) {
    struct connection *c = *state;
    sb_read_options options = {.user = "a b"};
    add_file(c, "200 OK", "", "");
    sb_op *op = sb_file_read(c->box, "a/\xc3\xa9 \n?#&=%+\xff", &options, &c->error);
    assert_int_equal(connection_end(c, op), SB_OK);
    assert_int_equal(server_count(c->server,
                                  "GET /files?path=a%2F%C3%A9%20%0A%3F%23%26%3D%25%2B%FF&username="
                                  "a%20b HTTP/1.1\r\n"),
                     1);
}

static void a_range_is_asked_for(void **state) {
    struct connection *c = *state;
    sb_read_options middle = {.offset = 2, .length = 3}, rest = {.offset = 7},
                    begin = {.length = 2};
    add_file(c, "206 Partial Content", "Content-Range: bytes 2-4/10\r\n", "234");
    check(c, &middle, SB_OK, "234");
    add_file(c, "206 Partial Content", "Content-Range: bytes 7-9/10\r\n", "789");
    check(c, &rest, SB_OK, "789");
    add_file(c, "206 Partial Content", "Content-Range: bytes 0-1/10\r\n", "01");
    check(c, &begin, SB_OK, "01");
    assert_int_equal(server_count(c->server, "\r\nRange: bytes=2-4\r\n"), 1);
    assert_int_equal(server_count(c->server, "\r\nRange: bytes=7-\r\n"), 1);
    assert_int_equal(server_count(c->server, "\r\nRange: bytes=0-1\r\n"), 1);
    /* It ends before the range does. */
    add_file(c, "206 Partial Content", "Content-Range: bytes 2-3/4\r\n", "23");
    check(c, &middle, SB_OK, "23");
}

static void a_server_without_ranges_is_cut_here(void **state) {
    struct connection *c = *state;
    sb_read_options middle = {.offset = 2, .length = 3}, rest = {.offset = 7}, end = {.offset = 10},
                    beyond = {.offset = 11, .length = 5}, all = {.length = 10},
                    more = {.offset = 8, .length = 100};
    const struct {
        const sb_read_options *options;
        const char *bytes;
    } cases[] = {{&middle, "234"}, {&rest, "789"},  {&end, ""},
                 {&beyond, ""},    {&all, CONTENT}, {&more, "89"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        add_file(c, "200 OK", "", CONTENT);
        check(c, cases[i].options, SB_OK, cases[i].bytes);
        server_add_stream(c->server, FILES, CONTENT, true, ANSWER_SLOWLY);
        check(c, cases[i].options, SB_OK, cases[i].bytes);
    }
    /* What is not wanted is not waited for. */
    server_add_stream(c->server, FILES, CONTENT, false, ANSWER_HOLD);
    check(c, &middle, SB_OK, "234");
}

static void a_range_behind_the_end_is_empty(void **state) {
    struct connection *c = *state;
    sb_read_options far = {.offset = 100, .length = 3};
    add_file(c, "416 Range Not Satisfiable", "Content-Range: bytes */10\r\n", "invalid range");
    check(c, &far, SB_OK, "");
    /* Nobody asked for a range. */
    add_file(c, "416 Range Not Satisfiable", "", "invalid range");
    check(c, NULL, SB_INVALID, "");
}

static void another_range_is_no_success(void **state) {
    struct connection *c = *state;
    sb_read_options middle = {.offset = 2, .length = 3};
    static const char *const headers[] = {
        "Content-Range: bytes 3-5/10\r\n", "", "Content-Range: rubbish\r\n",
        "Content-Range: bytes 2-1/10\r\n", "Content-Range: bytes -2-4/10\r\n",
        "Content-Range: bytes 99999999999999999999999-4/10\r\n",
        /* less than was asked for, though there is more */
        "Content-Range: bytes 2-3/10\r\n", "Content-Range: bytes 2-5/10\r\n",
        "Content-Range: bytes 2-4/4\r\n"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        add_file(c, "206 Partial Content", headers[i], "234");
        check(c, &middle, SB_PROTOCOL, "");
    }
    add_file(c, "206 Partial Content", "Content-Range: bytes 0-9/10\r\n", CONTENT);
    check(c, NULL, SB_PROTOCOL, "");
    sb_read_options rest = {.offset = 7};
    add_file(c, "206 Partial Content", "Content-Range: bytes 7-8/10\r\n", "78");
    check(c, &rest, SB_PROTOCOL, "");
    /* Other bytes than the range that it says. */
    add_file(c, "206 Partial Content", "Content-Range: bytes 2-4/10\r\n", "");
    check(c, &middle, SB_PROTOCOL, "");
    add_file(c, "206 Partial Content", "Content-Range: bytes 2-4/10\r\n", "2");
    check(c, &middle, SB_PROTOCOL, "2");
    /* More than the range that it says. */
    add_file(c, "206 Partial Content", "Content-Range: bytes 2-4/10\r\n", "23456789");
    check(c, &middle, SB_OK, "234");
}

static void what_is_cut_anywhere_is_no_success(void **state) {
    struct connection *c = *state;
    const char *whole = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd";
    for (size_t length = 0; length < strlen(whole); length++) {
        server_add_bytes(c->server, FILES, whole, length, ANSWER_CLOSE);
        sb_op *op = sb_file_read(c->box, "/x", NULL, &c->error);
        sb_code code = connection_end(c, op);
        if (code != SB_SANDBOX_LOST) {
            fail_msg("%zu bytes: %s: %s", length, sb_code_name(code), c->error.message);
        }
    }
}

static void a_chunked_one_that_is_cut_is_no_success(void **state) {
    struct connection *c = *state;
    const char *whole =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n";
    /* libcurl does without the very last byte. */
    for (size_t length = 40; length < strlen(whole) - 1; length++) {
        server_add_bytes(c->server, FILES, whole, length, ANSWER_CLOSE);
        sb_op *op = sb_file_read(c->box, "/x", NULL, &c->error);
        sb_code code = connection_end(c, op);
        if (code != SB_SANDBOX_LOST) {
            fail_msg("%zu bytes: %s: %s", length, sb_code_name(code), c->error.message);
        }
    }
    server_add_stream(c->server, FILES, "some", false, ANSWER_RESET);
    check(c, NULL, SB_SANDBOX_LOST, "some");
    server_add(c->server, FILES, "HTTP/1.1 200 OK\r\n\r\nall?", ANSWER_CLOSE);
    check(c, NULL, SB_SANDBOX_LOST, "all?");
}

static void too_much_for_memory_is_told(void **state) {
    struct connection *c = *state;
    sb_read_options small = {.max_bytes = 9}, enough = {.max_bytes = 10};
    add_file(c, "200 OK", "", CONTENT);
    check(c, &small, SB_TOO_LARGE, "");
    add_file(c, "200 OK", "", CONTENT);
    check(c, &enough, SB_OK, CONTENT);
    server_add_stream(c->server, FILES, CONTENT, true, ANSWER_KEEP);
    check(c, &small, SB_TOO_LARGE, "");
    /* A length that is announced is not believed beyond the bound. */
    server_add(c->server, FILES,
               "HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\nabc", ANSWER_HOLD);
    check(c, NULL, SB_TOO_LARGE, "");
}

static void failures_have_the_codes_of_files(void **state) {
    struct connection *c = *state;
    const struct {
        const char *status, *body;
        sb_code code;
    } cases[] = {
        {"404 Not Found", "{\"message\":\"path '/x' does not exist\",\"code\":404}", SB_NOT_FOUND},
        {"400 Bad", "{\"message\":\"path '/x' is a directory\",\"code\":400}", SB_IS_DIRECTORY},
        {"500 Bad", "{\"message\":\"open: permission denied\",\"code\":500}", SB_PERMISSION},
        {"401 No", "{\"message\":\"missing signature\",\"code\":401}", SB_UNAUTHORIZED},
        {"503 No", "<html>busy</html>", SB_UNAVAILABLE},
        {"204 None", "", SB_PROTOCOL},
        {"201 Made", "x", SB_PROTOCOL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].body[0] == '\0') {
            server_add(c->server, FILES, "HTTP/1.1 204 None\r\n\r\n", ANSWER_KEEP);
        } else {
            add_file(c, cases[i].status, "", cases[i].body);
        }
        check(c, NULL, cases[i].code, "");
    }
}

static void a_descriptor_gets_the_bytes(void **state) {
    struct connection *c = *state;
    char bytes[32] = "", path[] = "/tmp/stepbox-read-XXXXXX";
    size_t length;
    int fd = mkstemp(path);
    unlink(path);
    assert_int_equal(write(fd, "before ", 7), 7);
    sb_read_options options = {.to_fd = true, .fd = fd};
    add_file(c, "200 OK", "", CONTENT);
    sb_op *op = sb_file_read(c->box, "/x", &options, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_string_equal(sb_op_bytes(op, &length), "");
    assert_int_equal(length, 10);
    sb_op_free(op);
    assert_int_equal(pread(fd, bytes, sizeof bytes, 0), 17);
    assert_memory_equal(bytes, "before " CONTENT, 17);
    close(fd);
}

static void a_descriptor_that_cannot_be_written_is_told(void **state) {
    struct connection *c = *state;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    sb_read_options options = {.to_fd = true, .fd = full};
    add_file(c, "200 OK", "", CONTENT);
    assert_int_equal(connection_end(c, sb_file_read(c->box, "/x", &options, &c->error)), SB_SYSTEM);
    assert_non_null(strstr(c->error.message, "No space left"));
    close(full);
}

static void events_bring_the_bytes(void **state) {
    struct connection *c = *state;
    sb_read_options options = {.events = true};
    server_add_stream(c->server, FILES, CONTENT, true, ANSWER_SLOWLY);
    sb_op *op = sb_file_read(c->box, "/x", &options, &c->error);
    char got[32] = "";
    for (bool done = false; !done;) {
        done = sb_op_done(op);
        for (const sb_event *event; (event = sb_op_next_event(op)) != NULL;) {
            assert_int_equal(event->type, SB_EVENT_DATA);
            strncat(got, event->output.data, event->output.length);
        }
        if (!done) {
            sb_loop_step(c->loop, 1, NULL);
        }
    }
    assert_string_equal(got, CONTENT);
    size_t length;
    sb_op_bytes(op, &length);
    assert_int_equal(length, 10);
    sb_op_free(op);
}

static void standing_still_ends_it_and_moving_does_not(void **state) {
    struct connection *c = *state;
    sb_read_options options = {.idle_timeout = 0.2};
    server_add_stream(c->server, FILES, "some", false, ANSWER_HOLD);
    double begin = server_clock();
    check(c, &options, SB_TIMEOUT, "some");
    assert_true(server_clock() - begin < 1);
    server_add(c->server, FILES, "", ANSWER_HOLD);
    check(c, &options, SB_TIMEOUT, "");
}

static void misuse_is_told_at_once(void **state) {
    struct connection *c = *state;
    const sb_read_options bad[] = {{.offset = -1},
                                   {.length = -1},
                                   {.offset = INT64_MAX, .length = 1},
                                   {.idle_timeout = -1},
                                   {.idle_timeout = NAN},
                                   {.to_fd = true, .fd = -1},
                                   {.to_fd = true, .fd = 1, .events = true}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(sb_file_read(c->box, "/x", &bad[i], &c->error));
        assert_int_equal(c->error.code, SB_INVALID);
    }
    assert_null(sb_file_read(c->box, "", NULL, &c->error));
    assert_int_equal(c->error.code, SB_BAD_PATH);
}

static void a_read_can_be_cancelled(void **state) {
    struct connection *c = *state;
    server_add_stream(c->server, FILES, "some", false, ANSWER_HOLD);
    sb_op *op = sb_file_read(c->box, "/x", NULL, &c->error);
    for (int i = 0; i < 5; i++) {
        sb_loop_step(c->loop, 0.02, NULL);
    }
    sb_op_cancel(op);
    assert_int_equal(sb_op_error(op, NULL), SB_CANCELLED);
    assert_string_equal(sb_op_bytes(op, NULL), "some");
    sb_op_free(op);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, connection_set_up, connection_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_read_as_it_is),
        TEST(bytes_of_every_value_come),
        TEST(any_name_is_asked_for),
        TEST(a_range_is_asked_for),
        TEST(a_server_without_ranges_is_cut_here),
        TEST(a_range_behind_the_end_is_empty),
        TEST(another_range_is_no_success),
        TEST(what_is_cut_anywhere_is_no_success),
        TEST(a_chunked_one_that_is_cut_is_no_success),
        TEST(too_much_for_memory_is_told),
        TEST(failures_have_the_codes_of_files),
        TEST(a_descriptor_gets_the_bytes),
        TEST(a_descriptor_that_cannot_be_written_is_told),
        TEST(events_bring_the_bytes),
        TEST(standing_still_ends_it_and_moving_does_not),
        TEST(misuse_is_told_at_once),
        TEST(a_read_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
