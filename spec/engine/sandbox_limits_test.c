/* sandbox_limits_test.c - what a sandbox may take: what is refused by name, and which source
 * counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sandbox_limits.h"
#include "sandbox_record.h"

static const struct host_facts big = {.cpu_count = 8, .memory_mb = 16384};
static const struct host_facts small = {.cpu_count = 1, .memory_mb = 1000};
static char why[512];

static json_t *object(const char *text) {
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    return value;
}

static bool is_taken(const char *text) {
    json_t *value = object(text);
    bool taken = limits_field(NULL, value, why, sizeof why);
    json_decref(value);
    return taken;
}

static void defaults_follow_the_host(void **state) {
    (void)state;
    struct limits limits;
    limits_defaults(&limits, &big);
    assert_int_equal(limits.memory, 2048ll * LIMITS_MIB);
    assert_int_equal(limits.disk, 1024ll * LIMITS_MIB);
    assert_true(limits.cpus == 8);
    assert_true(limits_fit(&limits, &big, why, sizeof why));
    limits_defaults(&limits, &small);
    assert_int_equal(limits.memory, 500ll * LIMITS_MIB);
    assert_int_equal(limits.disk, 250ll * LIMITS_MIB);
    assert_true(limits_fit(&limits, &small, why, sizeof why));
}

static void good_numbers_are_taken(void **state) {
    (void)state;
    static const char *const good[] = {
        "{}",
        "{\"memoryMB\":64}",
        "{\"memoryMB\":1048576,\"cpuCount\":0.5,\"diskMB\":4,\"processes\":8,\"openFiles\":65536}",
        "{\"cpuCount\":2}",
        "{\"memoryMB\":null,\"processes\":null}",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!is_taken(good[i]))
            fail_msg("%s: %s", good[i], why);
}

static void wrong_numbers_are_refused_by_name(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"[]", "object"},
        {"1", "object"},
        {"{\"memory\":64}", "\"memory\""},
        {"{\"memoryMB\":63}", "memoryMB"},
        {"{\"memoryMB\":-1}", "memoryMB"},
        {"{\"memoryMB\":64.5}", "memoryMB"},
        {"{\"memoryMB\":\"64\"}", "memoryMB"},
        {"{\"memoryMB\":1048577}", "memoryMB"},
        {"{\"memoryMB\":9223372036854775807}", "memoryMB"},
        {"{\"cpuCount\":0}", "cpuCount"},
        {"{\"cpuCount\":true}", "cpuCount"},
        {"{\"cpuCount\":1e300}", "cpuCount"},
        {"{\"diskMB\":0}", "diskMB"},
        {"{\"diskMB\":3}", "diskMB"}, /* the sandbox's own files take 2.5 of it */
        {"{\"processes\":7}", "processes"},
        {"{\"processes\":1000000}", "processes"},
        {"{\"openFiles\":1}", "openFiles"},
        {"{\"openFiles\":65537}", "openFiles"},
        {"{\"outputMB\":0}", "outputMB"},
        {"{\"outputMB\":1.5}", "outputMB"},
        {"{\"outputMB\":1048577}", "outputMB"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(is_taken(wrong[i][0]));
        if (!strstr(why, wrong[i][1]))
            fail_msg("%s: \"%s\" does not name %s", wrong[i][0], why, wrong[i][1]);
    }
}

static void what_was_asked_for_counts(void **state) {
    (void)state;
    struct limits limits;
    limits_defaults(&limits, &big);
    json_t *wish = object("{\"memoryMB\":256,\"cpuCount\":1.5,\"processes\":20,\"openFiles\":100}");
    limits_override(&limits, wish);
    json_decref(wish);
    assert_int_equal(limits.memory, 256ll * LIMITS_MIB);
    assert_true(limits.cpus == 1.5);
    assert_int_equal(limits.processes, 20);
    assert_int_equal(limits.open_files, 100);
    /* The default for the disk gives way to the memory, which it is taken from. */
    assert_int_equal(limits.disk, 128ll * LIMITS_MIB);
    limits_override(&limits, NULL);
    assert_int_equal(limits.memory, 256ll * LIMITS_MIB);
    wish = object("{\"diskMB\":200,\"memoryMB\":300}");
    limits_override(&limits, wish);
    json_decref(wish);
    assert_int_equal(limits.disk, 200ll * LIMITS_MIB);
}

static int64_t output_of(const char *text) {
    struct limits limits;
    limits_defaults(&limits, &big);
    json_t *wish = object(text);
    limits_override(&limits, wish);
    json_decref(wish);
    return limits_output(&limits) / LIMITS_MIB;
}

static void output_has_room_for_all_files(void **state) {
    (void)state;
    assert_int_equal(output_of("{}"), 2048); /* a disk of 1 GiB, twice */
    assert_int_equal(output_of("{\"diskMB\":4}"), 1024);
    assert_int_equal(output_of("{\"diskMB\":1500}"), 3000);
    assert_int_equal(output_of("{\"diskMB\":1500,\"outputMB\":1}"), 1);
}

static bool fits(const char *text) {
    struct limits limits;
    limits_defaults(&limits, &small);
    json_t *wish = object(text);
    limits_override(&limits, wish);
    json_decref(wish);
    return limits_fit(&limits, &small, why, sizeof why);
}

static void what_the_host_does_not_have_is_refused_by_name(void **state) {
    (void)state;
    assert_true(fits("{\"memoryMB\":1000,\"cpuCount\":1,\"diskMB\":750}"));
    assert_false(fits("{\"memoryMB\":1001}"));
    assert_non_null(strstr(why, "\"memoryMB\": 1001 is more than this host has (1000)"));
    assert_false(fits("{\"cpuCount\":1.5}"));
    assert_non_null(strstr(why, "\"cpuCount\": 1.5 is more"));
    assert_false(fits("{\"memoryMB\":100,\"diskMB\":76}"));
    assert_non_null(strstr(why, "\"diskMB\""));
}

static void they_are_described_in_the_units_of_the_api(void **state) {
    (void)state;
    struct limits limits;
    limits_defaults(&limits, &big);
    json_t *described = limits_describe(&limits);
    assert_int_equal(json_integer_value(json_object_get(described, "memoryMB")), 2048);
    assert_int_equal(json_integer_value(json_object_get(described, "diskMB")), 1024);
    assert_int_equal(json_integer_value(json_object_get(described, "outputMB")), 2048);
    assert_true(json_real_value(json_object_get(described, "cpuCount")) == 8.0);
    assert_true(limits_field(NULL, described, why, sizeof why));
    json_decref(described);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_follow_the_host),
        cmocka_unit_test(good_numbers_are_taken),
        cmocka_unit_test(wrong_numbers_are_refused_by_name),
        cmocka_unit_test(what_was_asked_for_counts),
        cmocka_unit_test(output_has_room_for_all_files),
        cmocka_unit_test(what_the_host_does_not_have_is_refused_by_name),
        cmocka_unit_test(they_are_described_in_the_units_of_the_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
