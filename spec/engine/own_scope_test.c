/* own_scope_test.c - when an engine looks for a control group of its own, and how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <time.h>

#include "own_scope.h"

static void only_version_2_needs_it(void **state) {
    (void)state;
    static const struct cgroup_place unified = {.unified = true};
    static const struct cgroup_place hybrid[] = {{.controllers = CGROUP_MEMORY}, {.unified = true}};
    static const struct cgroup_place rest[] = {{.controllers = CGROUP_FREEZER}, {.unified = true}};
    assert_true(own_scope_helps(&unified, 1));
    assert_true(own_scope_helps(rest, 2));
    assert_false(own_scope_helps(hybrid, 2));
    assert_false(own_scope_helps(hybrid, 1));
    assert_false(own_scope_helps(NULL, 0));
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void a_program_is_not_waited_for_long(void **state) {
    (void)state;
    char *const ok[] = {"true", NULL}, *const wrong[] = {"false", NULL};
    char *const none[] = {"stepbox-no-such-program", NULL}, *const slow[] = {"sleep", "60", NULL};
    assert_true(own_scope_try(ok[0], ok));
    assert_false(own_scope_try(wrong[0], wrong));
    assert_false(own_scope_try(none[0], none));
    double begin = now();
    assert_false(own_scope_try(slow[0], slow));
    assert_true(now() - begin < 10);
}

static void the_engine_stays_where_it_cannot_help(void **state) {
    (void)state;
    char *const argv[] = {"/nowhere", NULL};
    setenv("STEPBOX_SCOPE", "1", 1);
    own_scope_enter((char **)argv); /* returns */
    assert_null(getenv("STEPBOX_SCOPE"));
    setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
    own_scope_enter((char **)argv);
    assert_null(getenv("STEPBOX_SCOPE"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_version_2_needs_it),
        cmocka_unit_test(a_program_is_not_waited_for_long),
        cmocka_unit_test(the_engine_stays_where_it_cannot_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
