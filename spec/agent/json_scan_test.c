/* json_scan_test.c - the first fault of a text, as Python 3.13 names it; types of messages. */
#include "json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "../support/guarded.h"

static const struct {
    const char *text, *fault;
    size_t position;
} cases[] = {
    {"{bad", "Expecting property name enclosed in double quotes", 1},
    {"", "Expecting value", 0},
    {"  ", "Expecting value", 2},
    {"{", "Expecting property name enclosed in double quotes", 1},
    {"[", "Expecting value", 1},
    {"[1", "Expecting ',' delimiter", 2},
    {"[1 2]", "Expecting ',' delimiter", 3},
    {"[1,]", "Illegal trailing comma before end of array", 2},
    {"{\"a\":1, }", "Illegal trailing comma before end of object", 6},
    {"{\"a\"", "Expecting ':' delimiter", 4},
    {"{\"a\" 1}", "Expecting ':' delimiter", 5},
    {"{\"a\":", "Expecting value", 5},
    {"{\"a\": x}", "Expecting value", 6},
    {"\"abc", "Unterminated string starting at", 0},
    {"\"ab\\", "Unterminated string starting at", 0},
    {"[\"\\x\"]", "Invalid \\escape", 2},
    {"\"\\u12g4\"", "Invalid \\uXXXX escape", 2},
    {"\"a\nb\"", "Invalid control character at", 2},
    {"{} x", "Extra data", 3},
    {"01", "Extra data", 1},
    {"1.", "Extra data", 1},
    {"-", "Expecting value", 0},
    {"tru", "Expecting value", 0},
    {"\"\xc3\xa9\xe2\x98\x83\" x", "Extra data", 5},
    {"{\"a\": [true, null, -1.5e+3, NaN, \"\\u00e9\\n\"]}", NULL, 0},
};

static void names_the_first_fault(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = strlen(cases[i].text), position = 99;
        const char *fault = json_fault(guarded(cases[i].text, length), length, &position);
        if (!cases[i].fault) {
            assert_null(fault);
            continue;
        }
        assert_non_null(fault);
        assert_string_equal(fault, cases[i].fault);
        assert_int_equal(position, cases[i].position);
    }
}

static void is_bounded_in_depth(void **state) {
    (void)state;
    size_t length = 1 << 20, position;
    char *text = malloc(length);
    memset(text, '[', length);
    assert_string_equal(json_fault(text, length, &position), "Nesting too deep");
    free(text);
}

static void finds_types(void **state) {
    (void)state;
    static const struct {
        const char *line, *type;
    } lines[] = {
        {"{\"type\": \"end\"}", "end"},
        {" {\"a\":{\"type\":\"no\"},\"b\":[{}],\"type\":\"result\"} ", "result"},
        {"{\"type\":\"a\",\"type\":\"b\"}", "b"},
        {"{\"type\":\"\"}", ""},
        {"{}", NULL},
        {"{\"types\":\"end\"}", NULL},
        {"{\"type\":5}", NULL},
        {"{\"type\":\"e\\u006ed\"}", NULL},
        {"{\"type\":\"a name that is too long\"}", NULL},
        {"{\"type\":\"end\"} x", NULL},
        {"{\"type\":\"end\"", NULL},
        {"{\"type\":\"end\",}", NULL},
        {"{\"type\":\"end\",\"x\":NaN}", NULL},
        {"{\"type\":\"end\",\"x\":\"\xc3\xa9\"}", NULL},
        {"[\"type\",\"end\"]", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t length = strlen(lines[i].line);
        char type[16];
        bool found = json_object_type(guarded(lines[i].line, length), length, type, sizeof type);
        assert_int_equal(found, lines[i].type != NULL);
        if (found)
            assert_string_equal(type, lines[i].type);
        for (size_t cut = 0; cut < length; cut++)
            json_object_type(guarded(lines[i].line, cut), cut, type, sizeof type);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_first_fault),
        cmocka_unit_test(is_bounded_in_depth),
        cmocka_unit_test(finds_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
