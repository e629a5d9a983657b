/* path_test.c - paths of clients, and making the directories that lead to one. */
#include "path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/guarded.h"

static struct agent agent = {.home = "/home/user"};

static void resolves_as_the_official_server_does(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "/home/user"},
        {"~", "/home/user"},
        {"~/", "/home/user"},
        {"~/a b", "/home/user/a b"},
        {"a", "/home/user/a"},
        {"./a//b/../c/", "/home/user/a/c"},
        {"../other", "/home/other"},
        {"../../../../x", "/x"},
        {"..", "/home"},
        {"../../..", "/"},
        {"...", "/home/user/..."},
        {"a~", "/home/user/a~"},
        {"new\nline", "/home/user/new\nline"},
        {"/", "/"},
        {"/abs/./as/../given//", "/abs/./as/../given//"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *fault;
        size_t length = strlen(cases[i][0]);
        char *path = path_resolve(&agent, guarded(cases[i][0], length), length, &fault);
        assert_non_null(path);
        assert_null(fault);
        assert_string_equal(path, cases[i][1]);
        free(path);
    }
}

static void starts_in_the_working_directory_that_was_set(void **state) {
    (void)state;
    const char *fault;
    struct agent other = {.home = "/home/user", .workdir = "/srv/app"};
    char *path = path_resolve(&other, "", 0, &fault);
    assert_string_equal(path, "/srv/app");
    free(path);
    path = path_resolve(&other, "a", 1, &fault);
    assert_string_equal(path, "/home/user/a");
    free(path);
}

static void refuses_what_is_no_path(void **state) {
    (void)state;
    const char *fault;
    static char text[PATH_MAX + 1];
    assert_null(path_resolve(&agent, "~root/x", 7, &fault));
    assert_non_null(strstr(fault, "other users"));
    assert_null(path_resolve(&agent, "a\0b", 3, &fault));
    assert_string_equal(fault, "the path contains NUL");
    memset(text, 'a', PATH_MAX);
    text[0] = '/';
    assert_null(path_resolve(&agent, text, PATH_MAX, &fault));
    assert_string_equal(fault, "the path is too long");
    assert_null(path_resolve(&agent, text + 1, PATH_MAX - 1, &fault)); /* with home before it */
    assert_string_equal(fault, "the path is too long");
    char *path = path_resolve(&agent, text, PATH_MAX - 1, &fault);
    assert_non_null(path);
    free(path);
}

static void names_the_last_component(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"/", "/"}, {"//", "/"}, {"/a", "a"}, {"/a/b c//", "b c"}, {"a", "a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length;
        const char *name = path_name(cases[i][0], &length);
        assert_int_equal(length, strlen(cases[i][1]));
        assert_memory_equal(name, cases[i][1], length);
    }
}

static char root[] = "/tmp/stepbox-path-test.XXXXXX";

static const char *below(const char *name) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void makes_directories(void **state) {
    (void)state;
    struct stat st;
    assert_int_equal(path_make_parents(below("a/b/file")), 0);
    assert_int_equal(path_make_parents(below("a/b/file")), 0);
    assert_int_equal(stat(below("a/b"), &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_not_equal(access(below("a/b/file"), F_OK), 0);
    assert_int_equal(path_make_directories(below("a//c/./d//")), 0);
    assert_int_equal(access(below("a/c/d"), F_OK), 0);
    assert_int_equal(symlink("a", below("link")), 0);
    assert_int_equal(path_make_directories(below("link/e")), 0);
    assert_int_equal(access(below("a/e"), F_OK), 0);
    fclose(fopen(below("file"), "w"));
    assert_int_equal(path_make_parents(below("file/x/y")), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(path_make_parents(below("file")), 0);
    assert_int_equal(path_make_parents("/"), 0);
}

static void *make_many(void *unused) {
    (void)unused;
    char path[PATH_MAX];
    for (int i = 0; i < 200; i++) {
        snprintf(path, sizeof path, "%s/many/%d/x/y/z", root, i);
        if (path_make_directories(path))
            return (void *)1;
    }
    return NULL;
}

static void makes_the_same_directories_several_times_at_once(void **state) {
    (void)state;
    pthread_t threads[4];
    void *failed;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_many, NULL), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}

static int set_up(void **state) {
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resolves_as_the_official_server_does),
        cmocka_unit_test(starts_in_the_working_directory_that_was_set),
        cmocka_unit_test(refuses_what_is_no_path),
        cmocka_unit_test(names_the_last_component),
        cmocka_unit_test(makes_directories),
        cmocka_unit_test(makes_the_same_directories_several_times_at_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
