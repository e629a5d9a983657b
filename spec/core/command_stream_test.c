/* What a process's stream of events says, read from bytes in pieces of any size. */
#include "command_output.h"
#include "connect_messages.h"
#include "guarded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define OUT(base64) "0{\"event\":{\"data\":{\"stdout\":\"" base64 "\"}}}"
#define ERR(base64) "0{\"event\":{\"data\":{\"stderr\":\"" base64 "\"}}}"

struct read {
    struct sbi_command_output output;
    struct sbi_exchange exchange; /* an answer that came whole, of which only the status is used */
    sb_error error;
};

static void begin(struct read *read, uint64_t max, struct sbi_events *events) {
    *read = (struct read){.exchange = {.status = 200, .is_framed = true}};
    sbi_command_output_init(&read->output, max, events, SB_NOT_FOUND);
}

static int feed(struct read *read, const void *bytes, size_t length) {
    struct guarded guarded = guarded_new(bytes, length);
    int status = sbi_command_output_data(&read->output, &read->exchange, guarded.bytes,
                                         guarded.length, &read->error);
    guarded_free(&guarded);
    return status;
}

static void read_messages(struct read *read, const char *const *messages) {
    size_t length;
    char *bytes = connect_messages(messages, &length);
    if (feed(read, bytes, length) == 0) {
        sbi_command_output_result(&read->output, &read->exchange, &read->error);
    }
    free(bytes);
}

static void what_the_server_dropped_is_no_output(void **state) {
    (void)state;
    static const char *const messages[] = {
        STARTED,
        ERR("aGVs"),
        "0{\"event\":{\"data\":{\"stderr\":\"bG8=\",\"dropped\":{\"stdout\":0,\"stderr\":9}}}}",
        "0{\"event\":{\"data\":{\"stdout\":\"bG8=\",\"dropped\":null}}}",
        FAILED,
        "2{}",
        NULL};
    struct read read;
    begin(&read, 1000, NULL);
    read_messages(&read, messages);
    const sb_command_result *result = sbi_command_output_view(&read.output, NULL);
    assert_int_equal(read.error.code, SB_OK);
    assert_string_equal(result->err, "hel");
    assert_string_equal(result->out, "lo");
    assert_true(result->err_truncated);
    assert_false(result->out_truncated);
    assert_int_equal(result->dropped, 9);
    sbi_command_output_free(&read.output);
}

static const char *const usual[] = {STARTED,
                                    KEEPALIVE,
                                    OUT("aGVs"),
                                    ERR("AAH/"),
                                    "0{\"event\": {\"data\": {\"stdout\": \"bG8=\"}}}",
                                    "0{\"event\":{\"unknown\":{\"x\":1}},\"more\":[]}",
                                    FAILED,
                                    "2{}",
                                    NULL};

static void expect_usual(struct read *read) {
    const sb_command_result *result = sbi_command_output_view(&read->output, NULL);
    assert_int_equal(read->error.code, SB_OK);
    assert_int_equal(read->output.pid, 7);
    assert_int_equal(result->exit_code, 3);
    assert_null(result->how);
    assert_string_equal(result->out, "hello");
    assert_int_equal(result->err_length, 3);
    assert_memory_equal(result->err, "\0\1\377", 4);
    assert_false(result->out_truncated || result->err_truncated);
}

static void a_stream_cut_anywhere_and_joined_is_the_same(void **state) {
    (void)state;
    size_t length;
    char *bytes = connect_messages(usual, &length);
    for (size_t cut = 0; cut <= length; cut++) {
        struct read read;
        begin(&read, 1000, NULL);
        assert_int_equal(feed(&read, bytes, cut), 0);
        assert_int_equal(feed(&read, bytes + cut, length - cut), 0);
        sbi_command_output_result(&read.output, &read.exchange, &read.error);
        expect_usual(&read);
        sbi_command_output_free(&read.output);
    }
    free(bytes);
}

static void a_stream_that_stops_anywhere_before_the_end_is_no_success(void **state) {
    (void)state;
    size_t length, last = strlen("{}") + SBI_FRAME_HEADER;
    char *bytes = connect_messages(usual, &length);
    for (size_t cut = 0; cut <= length; cut++) {
        struct read read;
        begin(&read, 1000, NULL);
        assert_int_equal(feed(&read, bytes, cut), 0);
        int status = sbi_command_output_result(&read.output, &read.exchange, &read.error);
        /* What the process's end says is enough. */
        assert_int_equal(status, cut < length - last ? -1 : 0);
        assert_int_equal(read.error.code, cut < length - last ? SB_PROTOCOL : SB_OK);
        sbi_command_output_free(&read.output);
    }
    free(bytes);
}

static void ends_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *message;
        int exit_code;
        const char *how;
    } cases[] = {
        {"0{\"event\":{\"end\":{\"exited\":true,\"status\":\"exit status 0\"}}}", 0, NULL},
        {"0{\"event\":{\"end\":{\"status\":\"exit status 0\"}}}", 0, NULL},
        {"0{\"event\":{\"end\":{}}}", 0, NULL},
        {"0{\"event\":{\"end\":{\"exitCode\":255}}}", 255, NULL},
        {"0{\"event\":{\"end\":{\"exited\":true,\"error\":\"wait: no child\"}}}", 0, NULL},
        {KILLED, -1, "signal: killed"},
        {"0{\"event\":{\"end\":{\"exitCode\":-1}}}", -1, "a signal"},
        {"0{\"event\":{\"end\":{\"error\":\"context deadline exceeded\"}}}", -1,
         "context deadline exceeded"},
        {"0{\"event\":{\"end\":{\"exitCode\":99999999999,\"exited\":true}}}", -1, "a signal"},
        {"0{\"event\":{\"end\":{\"exitCode\":\"x\",\"exited\":1,\"status\":[]}}}", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct read read;
        begin(&read, 1000, NULL);
        /* The start may be missing, and comes behind output at times. */
        read_messages(&read, (const char *[]){OUT("YQ=="), STARTED, cases[i].message, NULL});
        const sb_command_result *result = sbi_command_output_view(&read.output, "c");
        assert_int_equal(read.error.code, SB_OK);
        assert_string_equal(result->command, "c");
        assert_int_equal(result->exit_code, cases[i].exit_code);
        if (cases[i].how == NULL) {
            assert_null(result->how);
        } else {
            assert_string_equal(result->how, cases[i].how);
        }
        assert_string_equal(result->out, "a");
        assert_int_equal(read.output.pid, 7);
        sbi_command_output_free(&read.output);
    }
}

static void rubbish_is_refused_and_what_came_before_kept(void **state) {
    (void)state;
    static const struct {
        const char *message;
        sb_code code;
    } cases[] = {
        {"0garbage", SB_PROTOCOL},
        {"0", SB_PROTOCOL},
        {"0[]", SB_PROTOCOL},
        {"0{\"event\":{\"data\":{\"stdout\":\"*\"}}}", SB_PROTOCOL},
        {"0{\"event\":{\"data\":{\"stdout\":\"YWI", SB_PROTOCOL},
        {"0{\"event\":{\"data\":{\"stdout\":\"YWI\"}}} x", SB_PROTOCOL},
        {"0{\"event\":{\"data\":{\"stdout\":1}}}", SB_PROTOCOL},
        {"1{}", SB_PROTOCOL},
        {"4{}", SB_PROTOCOL},
        {"2nonsense", SB_PROTOCOL},
        {"2{\"error\":{\"code\":\"not_found\",\"message\":\"no\"}}", SB_NOT_FOUND},
        {"2{\"error\":\"x\"}", SB_UNAVAILABLE},
        {"2{}", SB_PROTOCOL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct read read;
        begin(&read, 1000, NULL);
        read_messages(&read, (const char *[]){STARTED, OUT("YQ=="), cases[i].message, NULL});
        assert_string_equal(sb_code_name(read.error.code), sb_code_name(cases[i].code));
        assert_string_equal(sbi_command_output_view(&read.output, NULL)->out, "a");
        assert_int_equal(sbi_command_output_view(&read.output, NULL)->exit_code, -1);
        sbi_command_output_free(&read.output);
    }
}

static void random_bytes_never_make_an_end(void **state) {
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 2000; round++) {
        unsigned char bytes[64];
        struct read read;
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1103515245u + 12345u;
            bytes[i] = (unsigned char)(seed >> 16);
        }
        /* Small frames of every kind, else the length of the first would end it. */
        bytes[0] &= 3;
        bytes[1] = bytes[2] = bytes[3] = 0;
        bytes[4] &= 15;
        begin(&read, 1000, NULL);
        int status = feed(&read, bytes, sizeof bytes);
        assert_true(status == 0 || read.error.code != SB_OK);
        assert_false(read.output.has_ended);
        sbi_command_output_free(&read.output);
    }
}

static void a_message_over_the_bound_is_refused_before_it_comes(void **state) {
    (void)state;
    unsigned char header[SBI_FRAME_HEADER];
    struct read read;
    begin(&read, 1000, NULL);
    sbi_frame_header(header, 0, SBI_MAX_MESSAGE + 1);
    assert_int_equal(feed(&read, header, sizeof header), -1);
    assert_int_equal(read.error.code, SB_TOO_LARGE);
    sbi_command_output_free(&read.output);
}

static void output_over_the_bound_is_cut_and_still_told(void **state) {
    (void)state;
    struct sbi_events events = {0};
    struct read read;
    begin(&read, 4, &events);
    read_messages(&read, (const char *[]){OUT("YWJj"), ERR("YWJjZA=="), OUT("ZGVm"), OUT("Z2hp"),
                                          "0{\"event\":{\"data\":{\"pty\":\"MQ==\"}}}", EXITED,
                                          "2{}", NULL});
    const sb_command_result *result = sbi_command_output_view(&read.output, NULL);
    assert_int_equal(read.error.code, SB_OK);
    assert_string_equal(result->out, "abcd");
    assert_true(result->out_truncated);
    assert_string_equal(result->err, "abcd");
    assert_false(result->err_truncated);
    static const struct {
        sb_stream stream;
        const char *text;
    } told[] = {{SB_STDOUT, "abc"},
                {SB_STDERR, "abcd"},
                {SB_STDOUT, "def"},
                {SB_STDOUT, "ghi"},
                {SB_PTY, "1"}};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const sb_event *event = sbi_events_next(&events);
        assert_int_equal(event->type, SB_EVENT_OUTPUT);
        assert_int_equal(event->output.stream, told[i].stream);
        assert_string_equal(event->output.data, told[i].text);
    }
    assert_null(sbi_events_next(&events));
    sbi_events_free(&events);
    sbi_command_output_free(&read.output);
}

/* Memory is bounded by what is kept, however much comes. */
static void output_that_is_not_kept_takes_no_memory(void **state) {
    (void)state;
    size_t length, piece = 60000;
    char *message = malloc(piece + 100);
    int head = sprintf(message, "0{\"event\":{\"data\":{\"stdout\":\"");
    memset(message + head, 'A', piece);
    strcpy(message + head + piece, "\"}}}");
    char *bytes = connect_messages((const char *[]){message, NULL}, &length);
    struct read read;
    begin(&read, 1000, NULL);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(feed(&read, bytes, length), 0);
    }
    assert_int_equal(read.output.out.length, 1000);
    assert_true(read.output.out.capacity <= 1024);
    assert_true(read.output.piece.capacity <= 128u * 1024);
    assert_true(read.output.out_truncated);
    sbi_command_output_free(&read.output);
    free(bytes);
    free(message);
}

static void escapes_in_base64_are_undone(void **state) {
    (void)state;
    struct read read;
    begin(&read, 1000, NULL);
    read_messages(&read, (const char *[]){OUT("\\/\\/\\/\\/"), OUT("Y\\u0051=="), EXITED, NULL});
    assert_int_equal(read.error.code, SB_OK);
    assert_string_equal(read.output.out.data, "\xff\xff\xff"
                                              "a");
    sbi_command_output_free(&read.output);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_server_dropped_is_no_output),
        cmocka_unit_test(a_stream_cut_anywhere_and_joined_is_the_same),
        cmocka_unit_test(a_stream_that_stops_anywhere_before_the_end_is_no_success),
        cmocka_unit_test(ends_are_told_apart),
        cmocka_unit_test(rubbish_is_refused_and_what_came_before_kept),
        cmocka_unit_test(random_bytes_never_make_an_end),
        cmocka_unit_test(a_message_over_the_bound_is_refused_before_it_comes),
        cmocka_unit_test(output_over_the_bound_is_cut_and_still_told),
        cmocka_unit_test(output_that_is_not_kept_takes_no_memory),
        cmocka_unit_test(escapes_in_base64_are_undone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
