/*
 * watch_fixture.h - for tests: streams of changes, message by message.
 */
#ifndef STEPBOX_SPEC_WATCH_FIXTURE_H
#define STEPBOX_SPEC_WATCH_FIXTURE_H

#include "filesystem_fixture.h"

struct stream {
    struct client *client;
    struct answer answer;
    size_t used;
};

static inline void send_frame(struct client *client, const char *procedure, const char *headers,
                              const char *message) {
    char all[500], path[100], body[4096];
    size_t length = strlen(message);
    memcpy(body, "\0\0\0\0\0", 5);
    body[3] = (char)(length >> 8);
    body[4] = (char)length;
    memcpy(body + 5, message, length);
    snprintf(all, sizeof all, "Content-Type: application/connect+json\r\n%s", headers);
    snprintf(path, sizeof path, "/filesystem.Filesystem/%s", procedure);
    request(client, "POST", path, all, body, length + 5);
}

/* The next message, to be decref'ed; *end says whether it is the last. */
static inline json_t *next_message(struct stream *stream, bool *end) {
    struct answer *answer = &stream->answer;
    for (;;) {
        const unsigned char *head = (unsigned char *)answer->body + stream->used;
        size_t left = answer->length - stream->used;
        size_t length = left < 5 ? 0 : (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
        if (left >= 5 && left >= 5 + length) {
            *end = head[0] & CONNECT_END;
            stream->used += 5 + length;
            json_t *message = json_loadb((const char *)head + 5, length, 0, NULL);
            assert_non_null(message);
            return message;
        }
        assert_true(read_chunk(stream->client, answer));
    }
}

/* Starts a watch, and takes its start event. */
static inline struct stream *watch_with(const char *headers, const char *body) {
    struct stream *stream = calloc(1, sizeof *stream);
    bool end;
    stream->client = connect_envd(&from_client);
    send_frame(stream->client, "WatchDir", headers, body);
    stream->answer = read_head(stream->client);
    assert_int_equal(stream->answer.status, 200);
    json_t *message = next_message(stream, &end);
    if (!json_object_get(message, "start"))
        print_error("%s\n", json_dumps(message, 0));
    assert_non_null(json_object_get(message, "start"));
    json_decref(message);
    return stream;
}

static inline struct stream *watch(const char *body) {
    return watch_with("", body);
}

static inline void unwatch(struct stream *stream) {
    disconnect(stream->client);
    free(stream->answer.body);
    free(stream);
}

/* The next event, to be decref'ed. */
static inline json_t *next_event(struct stream *stream) {
    bool end;
    json_t *message = next_message(stream, &end), *event;
    if (!json_object_get(message, "filesystem"))
        print_error("%s\n", json_dumps(message, 0));
    assert_false(end);
    event = json_incref(json_object_get(message, "filesystem"));
    assert_non_null(event);
    json_decref(message);
    return event;
}

/* Takes that many events: "CREATE a", a line each. */
static inline void expect_changes(struct stream *stream, size_t count, const char *expected) {
    char text[8000] = "";
    for (size_t i = 0; i < count; i++) {
        json_t *event = next_event(stream);
        const char *type = text_member(event, "type");
        assert_memory_equal(type, "EVENT_TYPE_", 11);
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s %s\n", type + 11,
                 text_member(event, "name"));
        json_decref(event);
    }
    assert_string_equal(text, expected);
}

/* Takes the end of a stream. */
static inline void expect_end(struct stream *stream, const char *code, const char *part) {
    bool end;
    json_t *message = next_message(stream, &end);
    if (!end)
        print_error("%s\n", json_dumps(message, 0));
    assert_true(end);
    expect_error(json_incref(json_object_get(message, "error")), code, part);
    json_decref(message);
    while (read_chunk(stream->client, &stream->answer))
        ;
    assert_false(stream->answer.cut);
    assert_int_equal(stream->used, stream->answer.length);
}

#endif
