/* process_stream_input_test.c - StreamInput: messages of a body that comes piece by piece. */
#include "process_fixture.h"

static struct client *begin(size_t content_length) {
    struct client *client = connect_envd(&from_client);
    char head[300], coding[60] = "Transfer-Encoding: chunked";
    if (content_length)
        snprintf(coding, sizeof coding, "Content-Length: %zu", content_length);
    snprintf(head, sizeof head,
             "POST /process.Process/StreamInput HTTP/1.1\r\nHost: h\r\n%s\r\nContent-Type: "
             "application/connect+json\r\n\r\n",
             coding);
    send_text(client, head);
    return client;
}

static void send_chunk(struct client *client, const char *bytes, size_t length) {
    char line[30];
    snprintf(line, sizeof line, "%zx\r\n", length);
    send_text(client, line);
    send_bytes(client, bytes, length);
    send_text(client, "\r\n");
}

/* A frame around the message; to be freed. */
static char *make_frame(const char *message, size_t *length) {
    size_t text = strlen(message);
    char *frame = malloc(text + 5);
    frame[0] = 0;
    for (int i = 1; i < 5; i++)
        frame[i] = (char)(text >> 8 * (4 - i));
    memcpy(frame + 5, message, text);
    *length = text + 5;
    return frame;
}

static void send_message(struct client *client, const char *message) {
    size_t length;
    char *frame = make_frame(message, &length);
    send_chunk(client, frame, length);
    free(frame);
}

static void send_start(struct client *client, int pid) {
    char message[100];
    snprintf(message, sizeof message, "{\"start\":{\"process\":{\"pid\":%d}}}", pid);
    send_message(client, message);
}

static char *data_message(const char *kind, const char *bytes, size_t length) {
    char *message = malloc(BASE64_SIZE(length) + 100);
    int used = sprintf(message, "{\"data\":{\"input\":{\"%s\":\"", kind);
    base64_encode((const unsigned char *)bytes, length, message + used);
    strcpy(message + used + BASE64_SIZE(length), "\"}}}");
    return message;
}

static void send_data(struct client *client, const char *kind, const char *bytes, size_t length) {
    char *message = data_message(kind, bytes, length);
    send_message(client, message);
    free(message);
}

static void end_body(struct client *client) {
    send_text(client, "0\r\n\r\n");
}

/* Takes the answer: an error's code and message, or "" when it is one empty message and the end. */
static void expect_answer(struct client *client, const char *code, const char *part) {
    struct outcome outcome = new_outcome();
    struct stream stream = {.client = client};
    read_rest(&stream, &outcome);
    assert_false(outcome.cut);
    assert_string_equal(outcome.error, code);
    assert_non_null(strstr(outcome.message, part));
    assert_int_equal(outcome.events, *code ? 0 : 1);
    free_outcome(&outcome);
}

static void passes_messages_on_in_order(void **state) {
    (void)state;
    struct stream stream = start_shell("", "cat", ",\"tag\":\"t\"");
    int pid = read_pid(&stream);
    struct client *client = begin(0);
    send_message(client, "{\"start\":{\"process\":{\"tag\":\"t\"}}}");
    send_data(client, "stdin", "one ", 4);
    send_message(client, "{\"keepalive\":{}}");
    send_data(client, "stdin", "two", 3);
    struct outcome outcome = new_outcome();
    read_until(&stream, &outcome, "one two"); /* before the body ends */
    end_body(client);
    expect_answer(client, "", "");
    call_pid("CloseStdin", pid, 200, "{}");
    read_rest(&stream, &outcome);
    assert_int_equal(outcome.exit_code, 0);
    free_outcome(&outcome);
}

static void takes_frames_however_they_are_cut(void **state) {
    (void)state;
    struct stream stream = start_shell("", "cat", "");
    int pid = read_pid(&stream);
    struct client *client = begin(0);
    char start[100];
    snprintf(start, sizeof start, "{\"start\":{\"process\":{\"pid\":%d}}}", pid);
    size_t first, second;
    char *data = data_message("stdin", "x", 1);
    char *frames[] = {make_frame(start, &first), make_frame(data, &second)};
    for (size_t i = 0; i < first; i++)
        send_chunk(client, frames[0] + i, 1);
    for (size_t i = 0; i < second; i++)
        send_chunk(client, frames[1] + i, 1);
    end_body(client);
    expect_answer(client, "", "");
    free(data);
    free(frames[0]);
    free(frames[1]);
    call_pid("CloseStdin", pid, 200, "{}");
    expect_outcome(stream, "x", 0);
}

/* How much a client can send until it has waited for a fifth of a second. */
static size_t send_until_held_back(struct client *client, const char *bytes, size_t length) {
    struct pollfd pfd = {.fd = client->fd, .events = POLLOUT};
    size_t sent = 0;
    while (sent < length && poll(&pfd, 1, 200) == 1) {
        ssize_t part = send(client->fd, bytes + sent, length - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        assert_true(part > 0);
        sent += (size_t)part;
    }
    return sent;
}

static void holds_the_client_back(void **state) {
    (void)state;
    enum { PIECE = 30000, PIECES = 400 };
    char line[200], start[100];
    snprintf(line, sizeof line, "until [ -e %s/go ]; do sleep 0.01; done; wc -c", directory);
    struct stream stream = start_shell("", line, "");
    int pid = read_pid(&stream);
    char *bytes = calloc(1, PIECE), *message = data_message("stdin", bytes, PIECE);
    size_t first, length;
    snprintf(start, sizeof start, "{\"start\":{\"process\":{\"pid\":%d}}}", pid);
    char *head = make_frame(start, &first), *frame = make_frame(message, &length);
    size_t all = first + length * PIECES;
    char *body = malloc(all);
    memcpy(body, head, first);
    for (size_t i = 0; i < PIECES; i++)
        memcpy(body + first + i * length, frame, length);
    struct client *client = begin(all);
    size_t sent = send_until_held_back(client, body, all);
    assert_true(sent < 2000000);
    write_file("go", "");
    send_bytes(client, body + sent, all - sent);
    expect_answer(client, "", "");
    call_pid("CloseStdin", pid, 200, "{}");
    expect_outcome(stream, "12000000\n", 0);
    free(body);
    free(head);
    free(frame);
    free(message);
    free(bytes);
}

static void answers_when_the_last_message_was_taken(void **state) {
    (void)state;
    struct stream stream = start_shell("", "sleep 0.3; wc -c", "");
    int pid = read_pid(&stream);
    char *bytes = calloc(1, 200000);
    struct client *client = begin(0);
    double began = now();
    send_start(client, pid);
    send_data(client, "stdin", bytes, 200000);
    end_body(client);
    expect_answer(client, "", "");
    assert_true(now() - began > 0.2);
    call_pid("CloseStdin", pid, 200, "{}");
    expect_outcome(stream, "200000\n", 0);
    free(bytes);
}

static void writes_to_terminals(void **state) {
    (void)state;
    struct stream stream = start_shell("", "read x; echo \"<$x>\"", ",\"pty\":{}");
    struct client *client = begin(0);
    send_start(client, read_pid(&stream));
    send_data(client, "pty", "hi\n", 3);
    end_body(client);
    expect_answer(client, "", "");
    struct outcome outcome = read_all(stream);
    assert_non_null(strstr(outcome.pty, "<hi>\r\n"));
    free_outcome(&outcome);
}

static void ends_when_the_process_does(void **state) {
    (void)state;
    struct stream stream =
        start_shell("", "exec 3<&0; sleep 1 <&3 >/dev/null 2>&1 & sleep 0.2; exit 5", "");
    char *bytes = calloc(1, 200000);
    struct client *client = begin(0);
    send_start(client, read_pid(&stream));
    send_data(client, "stdin", bytes, 200000);
    expect_outcome(stream, "", 5);
    send_data(client, "stdin", bytes, 200000);
    end_body(client);
    expect_answer(client, "not_found", "ended before it had taken the input");
    free(bytes);
}

static void stops_when_the_client_leaves(void **state) {
    (void)state;
    char line[200];
    snprintf(line, sizeof line, "until [ -e %s/go ]; do sleep 0.01; done; wc -c", directory);
    struct stream stream = start_shell("", line, "");
    int pid = read_pid(&stream);
    char *bytes = calloc(1, 1000000), *message = data_message("stdin", bytes, 1000000);
    size_t first, length;
    snprintf(line, sizeof line, "{\"start\":{\"process\":{\"pid\":%d}}}", pid);
    char *head = make_frame(line, &first), *frame = make_frame(message, &length);
    struct client *client = begin(first + 10 * length);
    send_bytes(client, head, first);
    send_bytes(client, frame, length);
    send_until_held_back(client, frame, length);
    disconnect(client);
    usleep(700000); /* behind bytes that were not read an end is looked for twice a second */
    write_file("go", "");
    call_pid("CloseStdin", pid, 200, "{}");
    struct outcome outcome = read_all(stream);
    /* What the pipe held, and nothing of the rest. */
    assert_true(atoi(outcome.out) > 0 && atoi(outcome.out) < 1000000);
    free_outcome(&outcome);
    free(head);
    free(frame);
    free(message);
    free(bytes);
}

static void refuses_rubbish(void **state) {
    (void)state;
    static const char *const messages[][3] = {
        {"{\"data\":{\"input\":{\"stdin\":\"\"}}}", "invalid_argument", "first message"},
        {"{\"start\":{}}", "invalid_argument", "a pid or a tag"},
        {"{\"start\":{\"process\":{\"pid\":1}}}", "not_found", "process with pid 1 not found"},
        {"{\"start\":{},\"data\":{}}", "invalid_argument", "one of start"},
        {"{}", "invalid_argument", "one of start"},
        {"[]", "invalid_argument", "one of start"},
        {"5", "invalid_argument", ""},
        {"{", "invalid_argument", ""},
        {"", "invalid_argument", ""},
        {"\xff", "invalid_argument", ""},
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        struct client *client = begin(0);
        send_message(client, messages[i][0]);
        end_body(client);
        expect_answer(client, messages[i][1], messages[i][2]);
    }
    struct client *client = begin(0);
    send_chunk(client, "\1\0\0\0\2{}", 7);
    end_body(client);
    expect_answer(client, "unimplemented", "compressed");
    client = begin(0);
    send_chunk(client, "\0\xff\xff\xff\xffx", 6);
    end_body(client);
    expect_answer(client, "resource_exhausted", "larger than 16777216 bytes");
    client = begin(0);
    send_chunk(client, "\0\0\0\0\5{}", 7);
    end_body(client);
    expect_answer(client, "invalid_argument", "not whole");
    client = begin(0); /* nothing at all was to be done */
    end_body(client);
    expect_answer(client, "", "");
    client = connect_envd(&from_client);
    send_call(client, "StreamInput", "{}");
    struct answer answer = read_answer(client, false);
    assert_int_equal(answer.status, 415);
    free(answer.body);
    disconnect(client);
}

static void refuses_bad_data_for_a_process(void **state) {
    (void)state;
    struct stream stream = start_shell("", "cat", "");
    int pid = read_pid(&stream);
    static const char *const messages[][2] = {
        {"{\"data\":{\"input\":{\"pty\":\"eA==\"}}}", "has no terminal"},
        {"{\"data\":{\"input\":{\"stdin\":\"*\"}}}", "not base64"},
        {"{\"data\":{}}", "must have bytes"},
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        struct client *client = begin(0);
        send_start(client, pid);
        send_data(client, "stdin", "x", 1);
        send_message(client, messages[i][0]);
        send_data(client, "stdin", "not this", 8);
        end_body(client);
        expect_answer(client, "invalid_argument", messages[i][1]);
    }
    call_pid("CloseStdin", pid, 200, "{}");
    expect_outcome(stream, "xxx", 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(passes_messages_on_in_order),
        PROCESS_TEST(takes_frames_however_they_are_cut),
        PROCESS_TEST(holds_the_client_back),
        PROCESS_TEST(answers_when_the_last_message_was_taken),
        PROCESS_TEST(writes_to_terminals),
        PROCESS_TEST(ends_when_the_process_does),
        PROCESS_TEST(stops_when_the_client_leaves),
        PROCESS_TEST(refuses_rubbish),
        PROCESS_TEST(refuses_bad_data_for_a_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
