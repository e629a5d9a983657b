/*
 * process_fixture.h - for tests of the process service: calls, and streams read event by event.
 */
#ifndef STEPBOX_SPEC_PROCESS_FIXTURE_H
#define STEPBOX_SPEC_PROCESS_FIXTURE_H

#include "agent_fixture.h"

#include "base64_decode.h"
#include "base64_encode.h"
#include "connect_messages.h"

#include <errno.h>

/* A stream under way, as one client reads it. */
struct stream {
    struct client *client;
    struct answer answer;
    size_t used;
    bool ended; /* its last frame was read */
    bool cut;   /* there was none */
};

/* All of a stream. */
struct outcome {
    int pid, keepalives, events;
    char *out, *err, *pty; /* NUL-terminated, never NULL */
    size_t out_length, err_length, pty_length;
    bool has_end, exited, cut;
    int exit_code;
    char status[64], error[32], message[600]; /* error: the code in the last frame */
};

static inline void send_frame_call(struct client *client, const char *path, const char *headers,
                                   const char *message) {
    char all[500];
    size_t length = strlen(message);
    char *body = malloc(length + 5);
    body[0] = 0;
    for (int i = 1; i < 5; i++)
        body[i] = (char)(length >> 8 * (4 - i));
    memcpy(body + 5, message, length);
    snprintf(all, sizeof all, "Content-Type: application/connect+json\r\n%s", headers);
    request(client, "POST", path, all, body, length + 5);
    free(body);
}

static inline struct stream open_stream(const char *procedure, const char *headers,
                                        const char *message) {
    struct stream stream = {.client = connect_envd(&from_client)};
    char path[100];
    snprintf(path, sizeof path, "/process.Process/%s", procedure);
    send_frame_call(stream.client, path, headers, message);
    return stream;
}

/* A shell that runs a line; `fields` are members of the message that follow, or "". */
static inline struct stream start_shell(const char *headers, const char *line, const char *fields) {
    json_t *args = json_pack("[s, s]", "-c", line);
    char *text = json_dumps(args, 0);
    char *message = malloc(strlen(text) + strlen(fields) + 100);
    sprintf(message, "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":%s}%s}", text, fields);
    struct stream stream = open_stream("Start", headers, message);
    free(message);
    free(text);
    json_decref(args);
    return stream;
}

static inline struct stream follow_pid(int pid, const char *headers) {
    char message[100];
    snprintf(message, sizeof message, "{\"process\":{\"pid\":%d}}", pid);
    return open_stream("Connect", headers, message);
}

static inline struct stream follow_tag(const char *tag) {
    char message[100];
    snprintf(message, sizeof message, "{\"process\":{\"tag\":\"%s\"}}", tag);
    return open_stream("Connect", "", message);
}

/* The next message, to be released; the last is {} or has an error. NULL when the stream was cut or
 * has ended. */
static inline json_t *next_message(struct stream *stream) {
    if (!stream->answer.status) {
        stream->answer = read_head(stream->client);
        assert_int_equal(stream->answer.status, 200);
        assert_non_null(strstr(stream->answer.head, "Content-Type: application/connect+json\r\n"));
    }
    for (;;) {
        size_t have = stream->answer.length - stream->used, length = 0;
        const unsigned char *head = (unsigned char *)stream->answer.body + stream->used;
        if (have >= 5)
            length = (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
        if (have >= 5 && have - 5 >= length) {
            json_t *message = json_loadb((const char *)head + 5, length, JSON_ALLOW_NUL, NULL);
            assert_non_null(message);
            assert_true(head[0] == 0 || head[0] == CONNECT_END);
            stream->ended = head[0] == CONNECT_END;
            stream->used += 5 + length;
            return message;
        }
        /* What was used is not kept: streams may be long. */
        if (stream->used) {
            memmove(stream->answer.body, stream->answer.body + stream->used, have);
            stream->answer.length = have;
            stream->used = 0;
        }
        if (!read_chunk(stream->client, &stream->answer)) {
            assert_int_equal(stream->answer.length, 0);
            stream->cut = !stream->ended;
            return NULL;
        }
    }
}

/* Leaves, or gives back what a stream that was read to its end used. */
static inline void close_stream(struct stream *stream) {
    disconnect(stream->client);
    free(stream->answer.body);
    *stream = (struct stream){0};
}

/* Reads the start event. */
static inline int read_pid(struct stream *stream) {
    json_t *message = next_message(stream);
    assert_non_null(message);
    int pid = 0;
    assert_int_equal(json_unpack(message, "{s:{s:{s:i}}}", "event", "start", "pid", &pid), 0);
    assert_true(pid > 0);
    json_decref(message);
    return pid;
}

static inline void append_decoded(char **to, size_t *length, const json_t *text) {
    size_t encoded = json_string_length(text);
    if (!text)
        return;
    *to = realloc(*to, *length + BASE64_DECODED_SIZE(encoded) + 1);
    ssize_t decoded =
        base64_decode(json_string_value(text), encoded, (unsigned char *)*to + *length);
    assert_true(decoded > 0);
    *length += (size_t)decoded;
    (*to)[*length] = '\0';
}

static inline void take_message(struct outcome *outcome, const json_t *message, bool last) {
    const json_t *event = json_object_get(message, "event"), *part;
    if (last) {
        part = json_object_get(message, "error");
        if (part) {
            snprintf(outcome->error, sizeof outcome->error, "%s",
                     json_string_value(json_object_get(part, "code")));
            snprintf(outcome->message, sizeof outcome->message, "%s",
                     json_string_value(json_object_get(part, "message")));
        }
        return;
    }
    outcome->events++;
    if ((part = json_object_get(event, "start")))
        outcome->pid = (int)json_integer_value(json_object_get(part, "pid"));
    if (json_object_get(event, "keepalive"))
        outcome->keepalives++;
    if ((part = json_object_get(event, "data"))) {
        append_decoded(&outcome->out, &outcome->out_length, json_object_get(part, "stdout"));
        append_decoded(&outcome->err, &outcome->err_length, json_object_get(part, "stderr"));
        append_decoded(&outcome->pty, &outcome->pty_length, json_object_get(part, "pty"));
    }
    if ((part = json_object_get(event, "end"))) {
        assert_false(outcome->has_end);
        outcome->has_end = true;
        outcome->exited = json_is_true(json_object_get(part, "exited"));
        outcome->exit_code = (int)json_integer_value(json_object_get(part, "exitCode"));
        snprintf(outcome->status, sizeof outcome->status, "%s",
                 json_string_value(json_object_get(part, "status")));
    }
}

static inline struct outcome new_outcome(void) {
    return (struct outcome){.out = strdup(""), .err = strdup(""), .pty = strdup("")};
}

static inline void free_outcome(struct outcome *outcome) {
    free(outcome->out);
    free(outcome->err);
    free(outcome->pty);
}

/* Reads until the output has the text (of its stdout or terminal). */
static inline void read_until(struct stream *stream, struct outcome *outcome, const char *text) {
    while (!strstr(outcome->out, text) && !strstr(outcome->pty, text)) {
        json_t *message = next_message(stream);
        if (!message || stream->ended)
            fail_msg("the stream ended without '%s'; it had '%s'", text,
                     *outcome->pty ? outcome->pty : outcome->out);
        take_message(outcome, message, false);
        json_decref(message);
    }
}

/* Reads on to the end, and closes the stream. */
static inline void read_rest(struct stream *stream, struct outcome *outcome) {
    json_t *message;
    while ((message = next_message(stream))) {
        take_message(outcome, message, stream->ended);
        json_decref(message);
    }
    outcome->cut = stream->cut;
    close_stream(stream);
}

static inline struct outcome read_all(struct stream stream) {
    struct outcome outcome = new_outcome();
    read_rest(&stream, &outcome);
    return outcome;
}

static inline void expect_outcome(struct stream stream, const char *out, int exit_code) {
    struct outcome outcome = read_all(stream);
    assert_string_equal(outcome.error, "");
    assert_string_equal(outcome.out, out);
    assert_true(outcome.has_end && outcome.exited);
    assert_int_equal(outcome.exit_code, exit_code);
    free_outcome(&outcome);
}

static inline void expect_error(struct stream stream, const char *code, const char *message) {
    struct outcome outcome = read_all(stream);
    assert_string_equal(outcome.error, code);
    assert_string_equal(outcome.message, message);
    assert_false(outcome.has_end);
    free_outcome(&outcome);
}

static inline void send_call(struct client *client, const char *procedure, const char *body) {
    char path[100];
    snprintf(path, sizeof path, "/process.Process/%s", procedure);
    request_json(client, "POST", path, body);
}

/* A unary call, and its whole answer. */
static inline void call(const char *procedure, const char *body, int status, const char *expected) {
    struct client *client = connect_envd(&from_client);
    send_call(client, procedure, body);
    expect(client, status, expected);
    disconnect(client);
}

/* The body of a SendInput; to be freed. */
static inline char *input_message(int pid, const char *kind, const char *bytes, size_t length) {
    char *message = malloc(BASE64_SIZE(length) + 100);
    int used = sprintf(message, "{\"process\":{\"pid\":%d},\"input\":{\"%s\":\"", pid, kind);
    base64_encode((const unsigned char *)bytes, length, message + used);
    strcpy(message + used + BASE64_SIZE(length), "\"}}");
    return message;
}

static inline void send_input(int pid, const char *kind, const char *text) {
    char *message = input_message(pid, kind, text, strlen(text));
    call("SendInput", message, 200, "{}");
    free(message);
}

static inline void call_pid(const char *procedure, int pid, int status, const char *expected) {
    char message[100];
    snprintf(message, sizeof message, "{\"process\":{\"pid\":%d}}", pid);
    call(procedure, message, status, expected);
}

static inline bool is_alive(int pid) {
    return kill(pid, 0) == 0 || errno != ESRCH;
}

static inline void wait_until_dead(int pid) {
    for (int i = 0; i < 5000 && is_alive(pid); i++)
        usleep(1000);
    assert_false(is_alive(pid));
}

/* The number in a file that a program writes, once it is there. */
static inline int read_number_file(const char *name) {
    char path[200];
    int number = 0;
    in_directory(path, sizeof path, name);
    for (int i = 0; i < 5000 && number == 0; i++) {
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%d\n", &number) != 1)
            usleep(1000);
        if (file)
            fclose(file);
    }
    assert_true(number > 0);
    return number;
}

#define PROCESS_TEST(name) cmocka_unit_test_setup_teardown(name, agent_set_up, agent_tear_down)

#endif
