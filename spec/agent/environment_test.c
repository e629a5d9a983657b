/* environment_test.c - what programs find in their environment. */
#include "environment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value of the one entry of that name; fails when there are several. */
static const char *value_of(char **envp, const char *name) {
    const char *value = NULL;
    size_t length = strlen(name);
    for (; *envp; envp++) {
        if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=') {
            assert_null(value);
            value = *envp + length + 1;
        }
    }
    return value;
}

static void overrides_from_the_general_to_the_special(void **state) {
    (void)state;
    setenv("OWN", "own", 1);
    setenv("SHARED", "own", 1);
    json_t *global = json_pack("{s:s, s:s}", "SHARED", "global", "BOTH", "global");
    json_t *extra = json_pack("{s:s, s:s}", "BOTH", "a'b\"\n", "EMPTY", "");
    char **envp = environment_make(global, extra);
    assert_non_null(envp);
    assert_string_equal(value_of(envp, "OWN"), "own");
    assert_string_equal(value_of(envp, "SHARED"), "global");
    assert_string_equal(value_of(envp, "BOTH"), "a'b\"\n");
    assert_string_equal(value_of(envp, "EMPTY"), "");
    assert_null(value_of(envp, "OTHER"));
    free(envp);
    json_decref(global);
    json_decref(extra);
    envp = environment_make(NULL, NULL);
    assert_string_equal(value_of(envp, "SHARED"), "own");
    free(envp);
}

static void names_what_cannot_be_a_variable(void **state) {
    (void)state;
    json_t *good = json_string("x"), *bad = json_stringn("a\0b", 3);
    assert_null(environment_fault("A", good));
    assert_null(environment_fault("a-b c", good));
    assert_non_null(environment_fault("", good));
    assert_non_null(environment_fault("A=B", good));
    assert_non_null(environment_fault("=", good));
    assert_non_null(environment_fault("A", bad));
    json_decref(good);
    json_decref(bad);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overrides_from_the_general_to_the_special),
        cmocka_unit_test(names_what_cannot_be_a_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
