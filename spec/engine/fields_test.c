/* fields_test.c - bodies are taken or refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "create_fields.h"

static char message[512];

static bool is_taken(int version, const char *body) {
    json_t *object =
        fields_parse(body, strlen(body), create_fields(version), false, message, sizeof message);
    json_decref(object);
    return object != NULL;
}

static void bodies_that_fit_are_taken(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "{\"templateID\":\"base\"}",
        "{\"templateID\":\"base\",\"timeout\":1}",
        "{\"templateID\":\"base\",\"timeout\":86400,\"secure\":true}",
        "{\"templateID\":\"base\",\"metadata\":{\"a\":\"b\",\"c\":\"\"},\"envVars\":{\"_A9\":\"it'"
        "s \\\"x\\\"\\n\"}}",
        "{\"templateID\":\"base\",\"metadata\":{},\"envVars\":{}}",
        "{\"templateID\":\"base\",\"autoPause\":false,\"autoPauseMemory\":true,\"autoResume\":{"
        "\"enabled\":false}}",
        "{\"templateID\":\"base\",\"allow_internet_access\":false,\"network\":{},\"mcp\":null,"
        "\"iam\":{\"tokens\":{}},"
        "\"volumeMounts\":[]}",
        "{\"templateID\":\"base\",\"limits\":{\"memoryMB\":256,\"cpuCount\":1.5,\"processes\":null}"
        "}",
        "{\"templateID\":\"base\",\"timeout\":null,\"metadata\":null,\"envVars\":null}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (!is_taken(1, bodies[i]) || !is_taken(2, bodies[i]))
            fail_msg("%s: %s", bodies[i], message);
    }
    assert_true(is_taken(1, "{\"templateID\":\"base\",\"secure\":false}"));
}

static void bodies_that_do_not_fit_are_refused_by_name(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"{}", "templateID"},
        {"{\"templateID\":null}", "templateID"},
        {"{\"templateID\":\"\"}", "templateID"},
        {"{\"templateID\":1}", "templateID"},
        {"{\"templateID\":\"base\",\"timeout\":0}", "timeout"},
        {"{\"templateID\":\"base\",\"limits\":[]}", "limits"},
        {"{\"templateID\":\"base\",\"limits\":{\"memoryMB\":1}}", "memoryMB"},
        {"{\"templateID\":\"base\",\"timeout\":-1}", "timeout"},
        {"{\"templateID\":\"base\",\"timeout\":86401}", "timeout"},
        {"{\"templateID\":\"base\",\"timeout\":1.5}", "timeout"},
        {"{\"templateID\":\"base\",\"timeout\":\"60\"}", "timeout"},
        {"{\"templateID\":\"base\",\"timeout\":true}", "timeout"},
        {"{\"templateID\":\"base\",\"metadata\":[]}", "metadata"},
        {"{\"templateID\":\"base\",\"metadata\":{\"key\":1}}", "key"},
        {"{\"templateID\":\"base\",\"envVars\":{\"1A\":\"x\"}}", "1A"},
        {"{\"templateID\":\"base\",\"envVars\":{\"\":\"x\"}}", "envVars"},
        {"{\"templateID\":\"base\",\"envVars\":{\"A=B\":\"x\"}}", "A=B"},
        {"{\"templateID\":\"base\",\"envVars\":{\"A-B\":\"x\"}}", "A-B"},
        {"{\"templateID\":\"base\",\"envVars\":{\"A\":null}}", "envVars"},
        {"{\"templateID\":\"base\",\"envVars\":{\"A\":\"x\\u0000y\"}}", "JSON"},
        {"{\"templateID\":\"base\",\"autoPause\":1}", "autoPause"},
        {"{\"templateID\":\"base\",\"autoPauseMemory\":1}", "autoPauseMemory"},
        {"{\"templateID\":\"base\",\"autoPauseMemory\":false}", "autoPauseMemory"},
        {"{\"templateID\":\"base\",\"autoResume\":{\"enabled\":1}}", "autoResume"},
        {"{\"templateID\":\"base\",\"autoResume\":{}}", "autoResume"},
        {"{\"templateID\":\"base\",\"autoResume\":false}", "autoResume"},
        {"{\"templateID\":\"base\",\"allow_internet_access\":\"yes\"}", "allow_internet_access"},
        {"{\"templateID\":\"base\",\"network\":[]}", "network"},
        {"{\"templateID\":\"base\",\"network\":{\"allowOut\":[\"127.1\"]}}", "127.1"},
        {"{\"templateID\":\"base\",\"network\":{\"denyOut\":[\"a.example\"]}}", "a.example"},
        {"{\"templateID\":\"base\",\"network\":{\"allow_out\":[]}}", "allow_out"},
        {"{\"templateID\":\"base\",\"mcp\":{\"a\":1}}", "mcp"},
        {"{\"templateID\":\"base\",\"iam\":{\"tokens\":{\"a\":{}}}}", "iam"},
        {"{\"templateID\":\"base\",\"iam\":{\"other\":{}}}", "iam"},
        {"{\"templateID\":\"base\",\"volumeMounts\":[{}]}", "volumeMounts"},
        {"{\"templateID\":\"base\",\"secure\":1}", "secure"},
        {"{\"templateID\":\"base\",\"templateId\":\"x\"}", "templateId"},
        {"{\"templateID\":\"base\",\"templateID\":\"x\"}", "templateID"},
        {"[]", "object"},
        {"", "empty"},
        {"{\"templateID\":\"base\"} x", "JSON"},
        {"{\"templateID\":\"\xff\"}", "JSON"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        message[0] = '\0';
        if (is_taken(1, wrong[i][0]) || is_taken(2, wrong[i][0]))
            fail_msg("taken: %s", wrong[i][0]);
        if (!strstr(message, wrong[i][1]))
            fail_msg("%s: the message does not say %s: %s", wrong[i][0], wrong[i][1], message);
    }
    assert_false(is_taken(2, "{\"templateID\":\"base\",\"secure\":false}"));
}

static void sizes_are_bounded(void **state) {
    (void)state;
    static const char *const fields[] = {"metadata", "envVars"};
    static const size_t most[] = {64 * 1024, 256 * 1024};
    for (size_t i = 0; i < 2; i++) {
        for (int over = 0; over < 2; over++) {
            size_t length = most[i] - 1 + (size_t)over;
            char *value = malloc(length + 1), *body = malloc(length + 100);
            assert_non_null(value);
            assert_non_null(body);
            memset(value, 'x', length);
            value[length] = '\0';
            sprintf(body, "{\"templateID\":\"base\",\"%s\":{\"A\":\"%s\"}}", fields[i], value);
            assert_int_equal(is_taken(2, body), !over);
            free(value);
            free(body);
        }
    }
}

static void an_optional_body_may_be_empty(void **state) {
    (void)state;
    json_t *object = fields_parse("", 0, create_fields(2) + 1, true, message, sizeof message);
    assert_non_null(object);
    assert_int_equal(fields_integer(object, "timeout", 7), 7);
    assert_false(fields_boolean(object, "secure", false));
    json_decref(object);
}

static void templates_are_known_by_name(void **state) {
    (void)state;
    assert_string_equal(template_alias("base"), "base");
    assert_string_equal(template_alias("code-interpreter-v1"), "code-interpreter-v1");
    assert_null(template_alias("Base"));
    assert_null(template_alias(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_that_fit_are_taken),
        cmocka_unit_test(bodies_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(an_optional_body_may_be_empty),
        cmocka_unit_test(templates_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
