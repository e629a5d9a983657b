/* language_test.c - the names of languages, and the commands of their runners. */
#include "language_kernels.h"

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
        {"python", "python"},
        {" PyThon\t\n", "python"},
        {"", "python"},
        {"  ", "python"},
        {"PY", "python"},
        {"python3", "python"},
        {"Cobol ", "cobol"},
        {"a b", "a b"},
        {"JS", "javascript"},
        {"ts", "typescript"},
        {"R", "r"},
        {"sh", "bash"},
        {"Jupyter:Python3", "jupyter:python3"},
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
    assert_string_equal(language->name, "python");
    assert_null(language_find("cobol", directory));
    assert_null(language_find("../python", directory));
    assert_int_equal(language_start_command(language, directory, 3, 0, &command), 0);
    assert_non_null(strstr(command.argv[0], "python3"));
    assert_string_equal(command.argv[1], path);
    assert_string_equal(command.argv[2], "3");
    assert_null(command.argv[3]);
    char *too_long = calloc(1, 5000);
    memset(too_long, 'x', 4999);
    assert_null(language_find("python", too_long));
    assert_int_equal(language_start_command(language, too_long, 3, 0, &command), -1);
    free(too_long);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(directory);
}

static void gives_options_and_variants(void **state) {
    (void)state;
    static const struct language language = {.name = "loud",
                                             .folder = "quiet",
                                             .file = "main.q",
                                             .programs = {"/no/such/program", "sh"},
                                             .options = {"-x", "-y"},
                                             .heap_option = "--heap=",
                                             .variant = "loud"};
    static const char *const words[] = {"sh", "-x",  "-y", "--heap=500", "/r/quiet/main.q",
                                        "12", "loud"};
    language_command command;
    assert_int_equal(language_start_command(&language, "/r", 12, 800 << 20, &command), 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_string_equal(command.argv[i], words[i]);
    assert_null(command.argv[7]);
}

static void says_what_is_missing(void **state) {
    (void)state;
    char fault[LANGUAGE_FAULT_MAX];
    struct language language = {
        .name = "loud", .programs = {"/no/such/program", "sh"}, .packages = "loud-base loud-extra"};
    assert_true(language_is_installed(&language, fault));
    assert_string_equal(fault, "");
    language.needs[0] = "/no/such/*:/bin/s[h]";
    assert_true(language_is_installed(&language, fault));
    language.needs[1] = "/no/such/*:/nor/such";
    assert_false(language_is_installed(&language, fault));
    assert_non_null(strstr(fault, "'loud' is not installed: there is no /no/such/*. "));
    assert_non_null(strstr(fault, "apt-get install loud-base loud-extra)"));
    language.programs[1] = "no-such-program-of-stepbox";
    assert_false(language_is_installed(&language, fault));
    assert_non_null(strstr(fault, "there is no no-such-program-of-stepbox"));
}

static const char *const kernel_names[] = {"Loud", "quiet", ".hidden", "no json", "of-system"};

static void count_kernel(const struct language *language, void *user) {
    if (strcmp(language->name, "jupyter:loud") == 0 || strcmp(language->name, "jupyter:quiet") == 0)
        ++*(int *)user;
}

static void finds_kernels(void **state) {
    (void)state;
    char home[] = "/tmp/stepbox-language-test.XXXXXX", command[200];
    assert_non_null(mkdtemp(home));
    for (size_t i = 0; i < sizeof kernel_names / sizeof *kernel_names; i++) {
        char folder[200], file[300];
        snprintf(command, sizeof command, "mkdir -p '%s/.local/share/jupyter/kernels/%s'", home,
                 kernel_names[i]);
        assert_int_equal(system(command), 0);
        snprintf(folder, sizeof folder, "%s/.local/share/jupyter/kernels/%s", home,
                 kernel_names[i]);
        snprintf(file, sizeof file, "%s/kernel.json", folder);
        if (i < 4)
            fclose(fopen(file, "w"));
    }
    struct language_kernels *kernels = language_kernels_new(home);
    const struct language *loud = language_kernels_find(kernels, "jupyter:loud");
    assert_non_null(loud);
    assert_string_equal(loud->name, "jupyter:loud");
    assert_string_equal(loud->variant, "Loud");
    assert_ptr_equal(language_kernels_find(kernels, "jupyter:loud"), loud);
    assert_null(language_kernels_find(kernels, "jupyter:.hidden"));
    assert_null(language_kernels_find(kernels, "jupyter:no json"));
    assert_null(language_kernels_find(kernels, "jupyter:of-system"));
    assert_null(language_kernels_find(kernels, "jupyter:../kernels/quiet"));
    assert_null(language_kernels_find(kernels, "jupyter:"));
    int count = 0;
    language_kernels_each(kernels, count_kernel, &count);
    assert_int_equal(count, 2);
    language_kernels_free(kernels);
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalizes_names),
        cmocka_unit_test(finds_runners_that_are_there),
        cmocka_unit_test(gives_options_and_variants),
        cmocka_unit_test(says_what_is_missing),
        cmocka_unit_test(finds_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
