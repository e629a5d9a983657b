/* The fast reader of a process's output. */
#include "guarded.h"
#include "process_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void the_fast_reader_takes_data_and_nothing_else(void **state) {
    (void)state;
    static const struct {
        const char *json;
        sb_stream stream; /* 0: refused */
        const char *text;
    } cases[] = {
        {"{\"event\":{\"data\":{\"stdout\":\"YQ==\"}}}", SB_STDOUT, "YQ=="},
        {"{ \"event\": {\"data\" : { \"stderr\": \"\" } } }", SB_STDERR, ""},
        {"{\"event\":{\"data\":{\"pty\":\"YQ\"}}}", SB_PTY, "YQ"},
        {"{\"event\":{\"data\":{\"stdin\":\"YQ==\"}}}", 0, NULL},
        {"{\"event\":{\"data\":{\"stdout\":\"YQ==\",\"stderr\":\"\"}}}", 0, NULL},
        {"{\"event\":{\"data\":{\"stdout\":\"YQ==\"}},\"x\":1}", 0, NULL},
        {"{\"event\":{\"start\":{\"pid\":7}}}", 0, NULL},
        {"{\"event\":{\"data\":{\"stdout\":\"YQ==\"}}}}", 0, NULL},
        {"{\"event\":{\"data\":{\"stdout\":null}}}", 0, NULL},
        {"", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct guarded json = guarded_new(cases[i].json, strlen(cases[i].json));
        struct sbi_process_data data;
        bool is_taken = sbi_process_data_read(json.bytes, json.length, &data);
        assert_int_equal(is_taken, cases[i].stream != 0);
        if (is_taken) {
            assert_int_equal(data.stream, cases[i].stream);
            assert_int_equal(data.length, strlen(cases[i].text));
            assert_memory_equal(data.text, cases[i].text, data.length);
        }
        guarded_free(&json);
        /* No beginning of one is one. */
        for (size_t length = 0; length < strlen(cases[i].json); length++) {
            json = guarded_new(cases[i].json, length);
            is_taken = sbi_process_data_read(json.bytes, json.length, &data);
            assert_false(is_taken && cases[i].stream != 0);
            guarded_free(&json);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fast_reader_takes_data_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
