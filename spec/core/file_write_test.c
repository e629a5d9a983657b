/* Writing files to servers that take them, refuse them in the middle, or stand still. */
#include "stepbox.h"
#include "upload_server.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

#define ENTRY "[{\"path\":\"/home/user/x\",\"name\":\"x\",\"type\":\"file\"}]"
#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" ENTRY
#define LARGE (5 * 1024 * 1024 + 7)

struct upload {
    struct upload_server *server;
    sb_loop *loop;
    sb_client *client;
    sb_box *box;
    sb_error error;
    char *large; /* LARGE bytes */
};

static int set_up(void **state) {
    struct upload *u = calloc(1, sizeof *u);
    u->server = upload_server_new();
    u->server->answer = OK_ANSWER;
    u->loop = sb_loop_new(&u->error);
    sb_client_options options = {.socket = u->server->path, .engine = "/nonexistent"};
    u->client = sb_client_new(u->loop, &options, &u->error);
    sb_op *op = sb_connect(u->client, "i123", NULL, &u->error);
    assert_int_equal(sb_op_wait(op, &u->error), 0);
    u->box = sb_op_take_box(op);
    sb_op_free(op);
    u->large = malloc(LARGE);
    unsigned seed = 1;
    for (size_t i = 0; i < LARGE; i++) {
        seed = seed * 1103515245 + 12345;
        u->large[i] = (char)(seed >> 16);
    }
    *state = u;
    return 0;
}

static int tear_down(void **state) {
    struct upload *u = *state;
    sb_box_free(u->box);
    sb_client_free(u->client);
    sb_loop_free(u->loop);
    upload_server_free(u->server);
    free(u->large);
    free(u);
    return 0;
}

static void check_end(struct upload *u, sb_op *op, sb_code code) {
    if (op == NULL) {
        fail_msg("%s", u->error.message);
    }
    u->error = (sb_error){0};
    sb_op_wait(op, &u->error);
    if (u->error.code != code) {
        fail_msg("%s instead of %s: %s", sb_code_name(u->error.code), sb_code_name(code),
                 u->error.message);
    }
    if (code == SB_OK) {
        assert_string_equal(sb_op_entry(op, 0)->path, "/home/user/x");
        assert_int_equal(sb_op_entry(op, 0)->type, SB_FILE_REGULAR);
    }
    sb_op_free(op);
}

static void check_came(struct upload *u, const char *bytes, size_t length) {
    upload_server_stop(u->server);
    assert_int_equal(u->server->length, length);
    assert_memory_equal(u->server->body, bytes, length);
}

static bool has_header(const struct upload *u, const char *line) {
    char text[300];
    snprintf(text, sizeof text, "\r\n%s\r\n", line);
    return strcasestr(u->server->head, text) != NULL;
}

static void memory_is_written(void **state) {
    struct upload *u = *state;
    sb_write_options options = {.bytes = u->large, .length = LARGE, .user = "a b"};
    check_end(u, sb_file_write(u->box, "x y\xff", &options, &u->error), SB_OK);
    check_came(u, u->large, LARGE);
    assert_memory_equal(u->server->head, "POST /files?path=x%20y%FF&username=a%20b HTTP", 45);
    assert_true(has_header(u, "Content-Type: application/octet-stream"));
    assert_true(has_header(u, "Content-Length: 5242887"));
    assert_null(strcasestr(u->server->head, "Expect"));
}

static void memory_is_copied_unless_it_is_lent(void **state) {
    struct upload *u = *state;
    char *copy = malloc(LARGE);
    memcpy(copy, u->large, LARGE);
    sb_write_options options = {.bytes = copy, .length = LARGE};
    sb_op *op = sb_file_write(u->box, "x", &options, &u->error);
    memset(copy, 0, LARGE);
    free(copy);
    check_end(u, op, SB_OK);
    options.bytes = u->large;
    options.borrow = true;
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
    check_came(u, u->large, LARGE);
}

static void small_and_empty_ones_are_written(void **state) {
    struct upload *u = *state;
    sb_write_options options = {.bytes = u->large, .length = 1};
    static const size_t lengths[] = {1, 100, 61439, 61440, 61441, 65536, 131072, 2097152};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        options.length = lengths[i];
        check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
        assert_int_equal(u->server->length, lengths[i]);
    }
    options.length = 0;
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
    assert_int_equal(u->server->length, 0);
    check_end(u, sb_file_write(u->box, "x", NULL, &u->error), SB_OK);
    check_came(u, "", 0);
    assert_true(has_header(u, "Content-Length: 0"));
}

static int file_with(const char *bytes, size_t length) {
    char path[] = "/tmp/stepbox-write-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    assert_int_equal(write(fd, bytes, length), length);
    return fd;
}

static void a_descriptor_is_written_from_where_it_is(void **state) {
    struct upload *u = *state;
    int fd = file_with(u->large, LARGE);
    lseek(fd, 1000, SEEK_SET);
    sb_write_options options = {.from_fd = true, .fd = fd};
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), LARGE);
    assert_true(has_header(u, "Content-Length: 5241887"));
    lseek(fd, LARGE + 5, SEEK_SET);
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
    assert_int_equal(u->server->length, 0);
    lseek(fd, 1000, SEEK_SET);
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
    check_came(u, u->large + 1000, LARGE - 1000);
    close(fd);
}

static void a_descriptor_without_a_size_is_written_to_its_end(void **state) {
    struct upload *u = *state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], u->large, 50000), 50000);
    close(ends[1]);
    sb_write_options options = {.from_fd = true, .fd = ends[0]};
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
    close(ends[0]);
    /* Such files say that they are empty. */
    options.fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
    assert_memory_equal(u->server->body, "Name:", 5);
    close(options.fd);
}

static void a_file_that_shrinks_meanwhile_is_no_success(void **state) {
    struct upload *u = *state;
    int fd = file_with(u->large, LARGE);
    lseek(fd, 0, SEEK_SET);
    sb_write_options options = {.from_fd = true, .fd = fd};
    sb_op *op = sb_file_write(u->box, "x", &options, &u->error);
    assert_int_equal(ftruncate(fd, 100), 0);
    check_end(u, op, SB_SYSTEM);
    assert_non_null(strstr(u->error.message, "shorter"));
    close(fd);
}

/* Feeds all in pieces, as the room is. */
static void feed(struct upload *u, sb_op *op, size_t length, size_t piece) {
    size_t at = 0;
    while (at < length && !sb_op_done(op)) {
        if (sb_op_feed_room(op) == 0) {
            sb_loop_step(u->loop, 5, NULL);
            continue;
        }
        size_t count = length - at < piece ? length - at : piece;
        if (sb_op_feed(op, u->large + at, count, &u->error) != 0) {
            return;
        }
        at += count;
    }
}

static void what_is_fed_is_written(void **state) {
    struct upload *u = *state;
    sb_write_options options = {.feed = true};
    static const size_t pieces[] = {777, 65536, 3000000};
    for (size_t i = 0; i < 3; i++) {
        sb_op *op = sb_file_write(u->box, "x", &options, &u->error);
        assert_int_equal(sb_op_feed_room(op), 1024 * 1024);
        assert_int_equal(sb_op_wait(op, &u->error), -1); /* would be for ever */
        assert_int_equal(u->error.code, SB_INVALID);
        feed(u, op, LARGE, pieces[i]);
        assert_int_equal(sb_op_feed(op, "", 0, &u->error), 0);
        assert_int_equal(sb_op_feed_end(op, &u->error), 0);
        assert_int_equal(sb_op_feed_room(op), 0);
        assert_int_equal(sb_op_feed(op, "x", 1, &u->error), -1);
        assert_int_equal(sb_op_feed_end(op, &u->error), -1);
        check_end(u, op, SB_OK);
        assert_int_equal(u->server->length, LARGE);
    }
    assert_true(has_header(u, "Transfer-Encoding: chunked"));
    check_came(u, u->large, LARGE);
}

static void nothing_fed_is_an_empty_file(void **state) {
    struct upload *u = *state;
    sb_write_options options = {.feed = true};
    sb_op *op = sb_file_write(u->box, "x", &options, &u->error);
    assert_int_equal(sb_op_feed_end(op, &u->error), 0);
    check_end(u, op, SB_OK);
    check_came(u, "", 0);
}

static void a_feed_has_news_when_there_is_room_again(void **state) {
    struct upload *u = *state;
    sb_write_options options = {.feed = true};
    sb_op *op = sb_file_write(u->box, "x", &options, &u->error);
    assert_null(sb_loop_ready(u->loop));
    assert_int_equal(sb_op_feed(op, u->large, LARGE, &u->error), 0); /* more than the room */
    assert_int_equal(sb_op_feed_room(op), 0);
    for (int i = 0; i < 500 && sb_op_feed_room(op) == 0; i++) {
        sb_loop_step(u->loop, 1, NULL);
    }
    assert_ptr_equal(sb_loop_ready(u->loop), op);
    assert_true(sb_op_feed_room(op) > 0);
    sb_op_feed_end(op, NULL);
    check_end(u, op, SB_OK);
}

static void a_feed_that_pauses_does_not_time_out(void **state) {
    struct upload *u = *state;
    sb_write_options options = {.feed = true, .idle_timeout = 0.1};
    sb_op *op = sb_file_write(u->box, "x", &options, &u->error);
    for (int i = 0; i < 8; i++) {
        sb_loop_step(u->loop, 0.05, NULL);
    }
    struct timespec end, now;
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (end.tv_sec++, now.tv_sec = 0; now.tv_sec < end.tv_sec && !sb_op_done(op);) {
        sb_loop_step(u->loop, 0.05, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    assert_false(sb_op_done(op));
    assert_int_equal(sb_op_feed(op, "late", 4, &u->error), 0);
    assert_int_equal(sb_op_feed_end(op, &u->error), 0);
    check_end(u, op, SB_OK);
    check_came(u, "late", 4);
}

#define FULL                                                                                       \
    "HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 58\r\n\r\n"                              \
    "{\"message\":\"not enough disk space available\",\"code\":507}\r\n"

static void a_refusal_in_the_middle_is_what_is_told(void **state) {
    struct upload *u = *state;
    sb_write_options memory = {.bytes = u->large, .length = LARGE, .borrow = true},
                     fed = {.feed = true};
    static const enum upload_way ways[] = {UPLOAD_EARLY, UPLOAD_DRAIN};
    u->server->answer = FULL;
    for (int i = 0; i < 6; i++) {
        u->server->way = ways[i % 2];
        check_end(u, sb_file_write(u->box, "x", &memory, &u->error), SB_NO_SPACE);
        assert_int_equal(u->error.status, 507);
        sb_op *op = sb_file_write(u->box, "x", &fed, &u->error);
        feed(u, op, LARGE, 100000);
        sb_op_feed_end(op, NULL);
        if (!sb_op_done(op)) {
            sb_op_wait(op, NULL);
        }
        assert_int_equal(sb_op_error(op, &u->error), SB_NO_SPACE);
        assert_int_equal(sb_op_feed(op, "x", 1, &u->error), -1);
        assert_int_equal(u->error.code, SB_NO_SPACE);
        sb_op_free(op);
    }
}

static void a_server_that_stands_still_is_left(void **state) {
    struct upload *u = *state;
    sb_write_options options = {
        .bytes = u->large, .length = LARGE, .borrow = true, .idle_timeout = 0.2};
    u->server->way = UPLOAD_STALL;
    u->server->limit = 100000;
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_TIMEOUT);
    u->server->limit = LARGE; /* takes all, and then says nothing */
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_TIMEOUT);
}

static void an_answer_that_is_cut_is_no_success(void **state) {
    struct upload *u = *state;
    sb_write_options options = {.bytes = "abc", .length = 3};
    static const char *const answers[] = {"", "HTTP/1.1 200 OK\r\n",
                                          "HTTP/1.1 200 OK\r\nContent-Length: 54\r\n\r\n[{"};
    for (size_t i = 0; i < 3; i++) {
        u->server->answer = answers[i];
        u->server->way = UPLOAD_EARLY;
        check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_SANDBOX_LOST);
    }
}

static void an_answer_without_an_entry_is_no_success(void **state) {
    struct upload *u = *state;
    sb_write_options options = {.bytes = "abc", .length = 3};
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
                                          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
                                          "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[7]",
                                          "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsure",
                                          "HTTP/1.1 204 None\r\n\r\n"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        u->server->answer = answers[i];
        check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_PROTOCOL);
    }
}

static void metadata_travels_in_headers(void **state) {
    struct upload *u = *state;
    sb_pair metadata[] = {{"author", "me, \"myself\" & I: ok"}, {"a.b-c_d", ""}};
    sb_write_options options = {
        .bytes = "abc", .length = 3, .metadata = metadata, .metadata_count = 2};
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
    assert_true(has_header(u, "X-Metadata-author: me, \"myself\" & I: ok"));
    assert_true(has_header(u, "X-Metadata-a.b-c_d:"));
}

static void metadata_that_headers_cannot_hold_is_misuse(void **state) {
    struct upload *u = *state;
    char name[300];
    memset(name, 'n', 247);
    name[247] = '\0';
    const sb_pair bad[] = {
        {"", "x"},   {"a b", "x"}, {"a:b", "x"},          {"\xc3\xa9", "x"}, {name, "x"},
        {NULL, "x"}, {"a", NULL},  {"a", "x\r\nEvil: 1"}, {"a", "\xc3\xa9"}, {"a", " x"},
        {"a", "x "}, {"a", "\t"},  {"a\r\nEvil: 1", "x"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sb_write_options options = {.metadata = &bad[i], .metadata_count = 1};
        assert_null(sb_file_write(u->box, "x", &options, &u->error));
        assert_int_equal(u->error.code, SB_INVALID);
    }
    name[246] = '\0';
    sb_pair longest = {name, "x"};
    const sb_pair same[] = {{"name", "x"}, {"other", "x"}, {"Name", "y"}};
    sb_write_options twice = {.metadata = same, .metadata_count = 3};
    assert_null(sb_file_write(u->box, "x", &twice, &u->error));
    assert_int_equal(u->error.code, SB_INVALID);
    sb_write_options options = {.metadata = &longest, .metadata_count = 1};
    check_end(u, sb_file_write(u->box, "x", &options, &u->error), SB_OK);
}

static void misuse_is_told_at_once(void **state) {
    struct upload *u = *state;
    const sb_write_options bad[] = {{.idle_timeout = -1},
                                    {.idle_timeout = NAN},
                                    {.length = 3},
                                    {.from_fd = true, .fd = -1},
                                    {.from_fd = true, .feed = true},
                                    {.bytes = "x", .length = 1, .feed = true}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(sb_file_write(u->box, "x", &bad[i], &u->error));
        assert_int_equal(u->error.code, SB_INVALID);
    }
    assert_null(sb_file_write(u->box, "", NULL, &u->error));
    assert_int_equal(u->error.code, SB_BAD_PATH);
    sb_op *op = sb_box_is_running(u->box, &u->error);
    assert_int_equal(sb_op_feed_room(op), 0);
    assert_int_equal(sb_op_feed(op, "x", 1, &u->error), -1);
    assert_int_equal(u->error.code, SB_INVALID);
    sb_op_free(op);
}

static void a_write_can_be_left_at_any_time(void **state) {
    struct upload *u = *state;
    sb_write_options options = {.feed = true};
    for (int steps = 0; steps < 6; steps++) {
        sb_op *op = sb_file_write(u->box, "x", &options, &u->error);
        assert_int_equal(sb_op_feed(op, u->large, LARGE, &u->error), 0);
        for (int i = 0; i < steps; i++) {
            sb_loop_step(u->loop, 0.01, NULL);
        }
        sb_op_cancel(op);
        assert_int_equal(sb_op_error(op, NULL), SB_CANCELLED);
        assert_int_equal(sb_op_feed(op, "x", 1, &u->error), -1);
        assert_int_equal(u->error.code, SB_CANCELLED);
        sb_op_free(op);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(memory_is_written),
        TEST(memory_is_copied_unless_it_is_lent),
        TEST(small_and_empty_ones_are_written),
        TEST(a_descriptor_is_written_from_where_it_is),
        TEST(a_descriptor_without_a_size_is_written_to_its_end),
        TEST(a_file_that_shrinks_meanwhile_is_no_success),
        TEST(what_is_fed_is_written),
        TEST(nothing_fed_is_an_empty_file),
        TEST(a_feed_has_news_when_there_is_room_again),
        TEST(a_feed_that_pauses_does_not_time_out),
        TEST(a_refusal_in_the_middle_is_what_is_told),
        TEST(a_server_that_stands_still_is_left),
        TEST(an_answer_that_is_cut_is_no_success),
        TEST(an_answer_without_an_entry_is_no_success),
        TEST(metadata_travels_in_headers),
        TEST(metadata_that_headers_cannot_hold_is_misuse),
        TEST(misuse_is_told_at_once),
        TEST(a_write_can_be_left_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
