/* language_test.c - the names of languages, and the commands of their runners. */
#include "language.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void normalizes_names(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"python", "python"}, {" PyThon\t\n", "python"}, {"", "python"},      {"  ", "python"},
        {"PY", "python"},     {"python3", "python"},     {"Cobol ", "cobol"}, {"a b", "a b"},
    };
    char normal[LANGUAGE_NAME_MAX], name[1000];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        language_normalize(names[i][0], normal);
        assert_string_equal(normal, names[i][1]);
    }
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    language_normalize(name, normal);
    assert_int_equal(strlen(normal), LANGUAGE_NAME_MAX - 1);
}

static void finds_runners_that_are_there(void **state) {
    (void)state;
    char directory[] = "/tmp/stepbox-language-test.XXXXXX", path[100];
    language_command command;
    assert_non_null(mkdtemp(directory));
    assert_null(language_find("python", directory));
    snprintf(path, sizeof path, "%s/python", directory);
    mkdir(path, 0755);
    assert_null(language_find("python", directory));
    strcat(path, "/main.py");
    fclose(fopen(path, "w"));
    const struct language *language = language_find("python", directory);
    assert_non_null(language);
    assert_string_equal(language_name(language), "python");
    assert_null(language_find("cobol", directory));
    assert_null(language_find("../python", directory));
    assert_int_equal(language_start_command(language, directory, 3, &command), 0);
    assert_non_null(strstr(command.argv[0], "python3"));
    assert_string_equal(command.argv[1], path);
    assert_string_equal(command.argv[2], "3");
    assert_null(command.argv[3]);
    char *too_long = calloc(1, 5000);
    memset(too_long, 'x', 4999);
    assert_null(language_find("python", too_long));
    assert_int_equal(language_start_command(language, too_long, 3, &command), -1);
    free(too_long);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalizes_names),
        cmocka_unit_test(finds_runners_that_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
