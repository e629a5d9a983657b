/* Watches of directories, against servers that tell of changes well, badly, or not at all. */
#include "connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define WATCH "POST /filesystem.Filesystem/WatchDir"
#define START "{\"start\":{}}"
#define KEEPALIVE "{\"keepalive\":{}}"
#define CHANGE(type, name) "{\"filesystem\":{\"type\":" type ",\"name\":" name "}}"

/* Frames, of which the last may be the end. */
struct frames {
    char bytes[8192];
    size_t length;
};

static void add_frame(struct frames *frames, unsigned flags, const char *json) {
    size_t length = strlen(json);
    unsigned char head[5] = {(unsigned char)flags, 0, 0, (unsigned char)(length >> 8),
                             (unsigned char)length};
    memcpy(frames->bytes + frames->length, head, 5);
    memcpy(frames->bytes + frames->length + 5, json, length);
    frames->length += 5 + length;
}

static struct frames frames_of(const char *const *messages, const char *end) {
    struct frames frames = {.length = 0};
    for (; *messages != NULL; messages++) {
        add_frame(&frames, 0, *messages);
    }
    if (end != NULL) {
        add_frame(&frames, 2, end);
    }
    return frames;
}

static void serve(struct connection *c, const struct frames *frames, size_t length, bool is_whole,
                  enum answer_way way) {
    server_add_stream_bytes(c->server, WATCH, frames->bytes, length, is_whole, way);
}

static void step_until(struct connection *c, const sb_op *op, bool (*is_so)(const sb_op *)) {
    for (int i = 0; i < 500 && !is_so(op); i++) {
        sb_loop_step(c->loop, 0.01, NULL);
    }
    assert_true(is_so(op));
}

static void changes_come_as_events(void **state) {
    struct connection *c = *state;
    const char *messages[] = {
        START,
        KEEPALIVE,
        CHANGE("\"EVENT_TYPE_CREATE\"", "\"a/\xc3\xa9\""),
        CHANGE("2", "\"b\""),
        CHANGE("\"EVENT_TYPE_REMOVE\"", "\"c\""),
        CHANGE("\"EVENT_TYPE_RENAME\"", "\"d\""),
        CHANGE("\"EVENT_TYPE_PORTAL\"", "\"e\""),
        CHANGE("77", "\"e\""),
        "{\"unheardOf\":{}}",
        "{\"filesystem\":{\"type\":\"EVENT_TYPE_CHMOD\",\"entry\":{\"path\":\"/w/f\",\"size\":"
        "\"5\"}}}",
        NULL};
    struct frames frames = frames_of(messages, NULL);
    serve(c, &frames, frames.length, false, ANSWER_HOLD);
    sb_watch_options options = {.recursive = true, .include_entry = true, .user = "me"};
    sb_op *op = sb_watch(c->box, "/w", &options, &c->error);
    assert_false(sb_op_flag(op));
    step_until(c, op, sb_op_flag);
    assert_ptr_equal(sb_loop_ready(c->loop), op);
    static const struct {
        sb_file_change change;
        const char *name;
    } expected[] = {{SB_CHANGE_CREATE, "a/\xc3\xa9"},
                    {SB_CHANGE_WRITE, "b"},
                    {SB_CHANGE_REMOVE, "c"},
                    {SB_CHANGE_RENAME, "d"},
                    {SB_CHANGE_CHMOD, ""}};
    for (size_t i = 0; i < 5; i++) {
        const sb_event *event;
        while ((event = sb_op_next_event(op)) == NULL) {
            assert_false(sb_op_done(op));
            sb_loop_step(c->loop, 0.1, NULL);
        }
        assert_int_equal(event->type, SB_EVENT_FILE);
        assert_int_equal(event->file->change, expected[i].change);
        assert_string_equal(event->file->name, expected[i].name);
        assert_int_equal(event->file->entry != NULL, i == 4);
        if (i == 4) {
            assert_string_equal(event->file->entry->path, "/w/f");
            assert_true(event->file->entry->size == 5);
        }
    }
    assert_null(sb_op_next_event(op));
    assert_false(sb_op_done(op));
    sb_op_cancel(op);
    assert_int_equal(sb_op_error(op, NULL), SB_CANCELLED);
    sb_op_free(op);
    assert_int_equal(server_count(c->server,
                                  "{\"path\":\"/w\",\"recursive\":true,\"includeEntry\":true,"
                                  "\"allowNetworkMounts\":false}"),
                     1);
    assert_int_equal(server_count(c->server, "Keepalive-Ping-Interval: "), 1);
    assert_int_equal(server_count(c->server, "Authorization: Basic bWU6\r\n"), 1);
}

static void one_byte_at_a_time_is_enough(void **state) {
    struct connection *c = *state;
    const char *messages[] = {START, CHANGE("1", "\"slow\""), NULL};
    struct frames frames = frames_of(messages, "{}");
    serve(c, &frames, frames.length, true, ANSWER_SLOWLY);
    sb_op *op = sb_watch(c->box, "/w", NULL, &c->error);
    assert_int_equal(sb_op_wait(op, &c->error), 0);
    assert_string_equal(sb_op_next_event(op)->file->name, "slow");
    assert_true(sb_op_flag(op));
    sb_op_free(op);
}

static void what_is_cut_anywhere_is_no_success(void **state) {
    struct connection *c = *state;
    const char *messages[] = {START, CHANGE("1", "\"x\""), NULL};
    struct frames frames = frames_of(messages, "{}");
    for (size_t length = 1; length < frames.length; length += 3) {
        serve(c, &frames, length, false, ANSWER_CLOSE);
        sb_code code = connection_end(c, sb_watch(c->box, "/w", NULL, &c->error));
        assert_int_equal(code, SB_SANDBOX_LOST);
    }
}

static sb_code watched(struct connection *c, const char *const *messages, const char *end) {
    struct frames frames = frames_of(messages, end);
    serve(c, &frames, frames.length, true, ANSWER_KEEP);
    return connection_end(c, sb_watch(c->box, "/w", NULL, &c->error));
}

static void the_server_says_what_failed(void **state) {
    struct connection *c = *state;
    const char *none[] = {NULL}, *start[] = {START, NULL};
    assert_int_equal(
        watched(c, none, "{\"error\":{\"code\":\"not_found\",\"message\":\"path /w not found\"}}"),
        SB_NOT_FOUND);
    assert_int_equal(watched(c, none,
                             "{\"error\":{\"code\":\"invalid_argument\","
                             "\"message\":\"path /w not a directory\"}}"),
                     SB_NOT_DIRECTORY);
    assert_int_equal(watched(c, start,
                             "{\"error\":{\"code\":\"internal\","
                             "\"message\":\"watch: no space left on device\"}}"),
                     SB_NO_SPACE);
    assert_int_equal(watched(c, none, "{}"), SB_PROTOCOL); /* ended before it began */
    assert_int_equal(watched(c, start, "{}"), SB_OK);
    server_add_reply(c->server, WATCH, "502 Bad Gateway", "",
                     "{\"sandboxId\":\"i123\",\"message\":\"not found\",\"code\":502}");
    assert_int_equal(connection_end(c, sb_watch(c->box, "/w", NULL, &c->error)), SB_SANDBOX_LOST);
}

static void rubbish_is_told(void **state) {
    struct connection *c = *state;
    static const char *const messages[] = {
        "{",
        "[]",
        "\xff",
        "{\"filesystem\":7}",
        "{\"filesystem\":{\"type\":1,\"name\":7}}",
        "{\"filesystem\":{\"type\":1,\"name\":\"x\",\"entry\":[7]}}",
        "{\"filesystem\":{\"type\":1,\"name\":\"x\",\"entry\":{\"path\":\"/x\",\"size\":\"y\"}}}"};
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        const char *list[] = {START, messages[i], NULL};
        sb_code code = watched(c, list, "{}");
        if (code != SB_PROTOCOL) {
            fail_msg("%s: %s", messages[i], sb_code_name(code));
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, connection_set_up, connection_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(changes_come_as_events),
        TEST(one_byte_at_a_time_is_enough),
        TEST(what_is_cut_anywhere_is_no_success),
        TEST(the_server_says_what_failed),
        TEST(rubbish_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
