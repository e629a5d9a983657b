/* create_limits_test.c - the limits of a new sandbox on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "create_limits.h"

static sb_error error;

/* The body's "limits" as text, or "" without; NULL when they are refused. */
static char *limits_of(sb_limits limits, bool local) {
    static char text[256];
    json_t *body = json_object();
    error = (sb_error){0};
    if (sbi_create_limits(body, &limits, local, &error) != 0) {
        json_decref(body);
        return NULL;
    }
    json_t *object = json_object_get(body, "limits");
    size_t length = object ? json_dumpb(object, text, sizeof text - 1, JSON_COMPACT) : 0;
    text[length] = '\0';
    json_decref(body);
    return text;
}

static void what_is_given_is_sent(void **state) {
    (void)state;
    assert_string_equal(limits_of((sb_limits){0}, true), "");
    assert_string_equal(limits_of((sb_limits){0}, false), "");
    assert_string_equal(limits_of((sb_limits){.memory = 1, .disk = 3 * 1024 * 1024 + 1}, true),
                        "{\"memoryMB\":1,\"diskMB\":4}");
    assert_string_equal(limits_of((sb_limits){.cpus = 0.5, .processes = 9, .open_files = 70}, true),
                        "{\"cpuCount\":0.5,\"processes\":9,\"openFiles\":70}");
    assert_string_equal(limits_of((sb_limits){.output = 1024 * 1024 + 1}, true),
                        "{\"outputMB\":2}");
}

static void what_is_no_amount_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        sb_limits limits;
        const char *name;
    } wrong[] = {{{.memory = -1}, "memory"},       {{.memory = NAN}, "memory"},
                 {{.memory = INFINITY}, "memory"}, {{.disk = -5}, "disk"},
                 {{.cpus = -1}, "cpus"},           {{.cpus = NAN}, "cpus"},
                 {{.cpus = INFINITY}, "cpus"},     {{.output = -1}, "output"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(limits_of(wrong[i].limits, true));
        assert_int_equal(error.code, SB_INVALID);
        assert_non_null(strstr(error.message, wrong[i].name));
    }
}

static void other_servers_are_not_asked(void **state) {
    (void)state;
    assert_null(limits_of((sb_limits){.processes = 10}, false));
    assert_int_equal(error.code, SB_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_is_sent),
        cmocka_unit_test(what_is_no_amount_is_refused_by_name),
        cmocka_unit_test(other_servers_are_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
