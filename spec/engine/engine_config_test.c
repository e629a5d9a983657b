/* engine_config_test.c - the engine's configuration file: where it is, what counts, what is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine_config.h"
#include "sandbox_record.h"

static const struct host_facts host = {.cpu_count = 4, .memory_mb = 8192};
static char directory[] = "/tmp/stepbox-config.XXXXXX";
static char path[sizeof directory + 64];
static char message[1024];

static int make_directory(void **state) {
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/engine.json", directory);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static void write_file(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void without_a_file_the_host_decides(void **state) {
    (void)state;
    setenv("XDG_CONFIG_HOME", directory, 1);
    struct engine_config config;
    assert_int_equal(engine_config_load(&config, "", &host, message, sizeof message), 0);
    assert_string_equal(config.path, "");
    assert_int_equal(config.max_sandboxes, 128);
    assert_int_equal(config.max_memory, 16ll * 8192 * LIMITS_MIB);
    struct limits limits = engine_config_limits(&config, "base");
    assert_int_equal(limits.memory, 2048ll * LIMITS_MIB);
    assert_null(engine_config_network(&config));
    engine_config_free(&config);
}

static void the_default_file_is_found(void **state) {
    (void)state;
    char folder[sizeof directory + 16], file[sizeof directory + 32], found[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/stepbox", directory);
    snprintf(file, sizeof file, "%s/engine.json", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    write_file("{\"maxSandboxes\": 3}");
    assert_int_equal(rename(path, file), 0);
    setenv("XDG_CONFIG_HOME", directory, 1);
    assert_true(engine_config_default_path(found));
    assert_string_equal(found, file);
    struct engine_config config;
    assert_int_equal(engine_config_load(&config, "", &host, message, sizeof message), 0);
    assert_string_equal(config.path, file);
    assert_int_equal(config.max_sandboxes, 3);
    engine_config_free(&config);
    unlink(file);
    rmdir(folder);
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/nowhere", 1);
    assert_true(engine_config_default_path(found));
    assert_string_equal(found, "/nowhere/.config/stepbox/engine.json");
    unsetenv("HOME");
    assert_false(engine_config_default_path(found));
}

static void templates_have_their_own_limits(void **state) {
    (void)state;
    write_file("{\"limits\": {\"memoryMB\": 512, \"processes\": 100}, \"maxMemoryMB\": 4096,"
               " \"templates\": {\"code-interpreter-v1\": {\"limits\": {\"memoryMB\": 1024}}},"
               " \"network\": {\"x\": 1}}");
    struct engine_config config;
    if (engine_config_load(&config, path, &host, message, sizeof message) < 0)
        fail_msg("%s", message);
    assert_int_equal(config.max_memory, 4096ll * LIMITS_MIB);
    struct limits base = engine_config_limits(&config, "base");
    assert_int_equal(base.memory, 512ll * LIMITS_MIB);
    assert_int_equal(base.processes, 100);
    struct limits code = engine_config_limits(&config, "code-interpreter-v1");
    assert_int_equal(code.memory, 1024ll * LIMITS_MIB);
    assert_int_equal(code.processes, 100);
    assert_int_equal(json_object_size(engine_config_network(&config)), 1);
    engine_config_free(&config);
}

static void a_wrong_file_is_refused_with_its_name_and_the_field(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"", "empty"},
        {"{\n\"limits\": }", "line 2"},
        {"[]", "object"},
        {"{\"limit\": {}}", "\"limit\""},
        {"{\"limits\": {\"memoryMB\": 1}}", "memoryMB"},
        {"{\"limits\": {\"memoryMB\": 9000}}", "more than this host has"},
        {"{\"maxSandboxes\": 0}", "maxSandboxes"},
        {"{\"freshZygotes\": 0}", "freshZygotes"},
        {"{\"freshZygotes\": 65}", "freshZygotes"},
        {"{\"maxMemoryMB\": \"1\"}", "maxMemoryMB"},
        {"{\"templates\": {\"nothing\": {}}}", "\"nothing\""},
        {"{\"templates\": {\"base\": 1}}", "\"base\""},
        {"{\"templates\": {\"base\": {\"x\": 1}}}", "\"x\""},
        {"{\"templates\": {\"base\": {\"limits\": {\"diskMB\": 0}}}}", "diskMB"},
        {"{\"templates\": {\"base\": {\"limits\": {\"cpuCount\": 5}}}}", "cpuCount"},
        {"{\"network\": []}", "network"},
        {"{\"maxSandboxes\": 1, \"maxSandboxes\": 2}", "duplicate"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct engine_config config;
        write_file(wrong[i][0]);
        assert_int_equal(engine_config_load(&config, path, &host, message, sizeof message), -1);
        if (!strstr(message, wrong[i][1]) || !strstr(message, path))
            fail_msg("%s: \"%s\" does not name %s", wrong[i][0], message, wrong[i][1]);
    }
}

static void a_file_that_was_named_has_to_be_there(void **state) {
    (void)state;
    struct engine_config config;
    unlink(path);
    assert_int_equal(engine_config_load(&config, path, &host, message, sizeof message), -1);
    assert_non_null(strstr(message, "No such file"));
    assert_int_equal(engine_config_load(&config, directory, &host, message, sizeof message), -1);
    assert_non_null(strstr(message, "directory"));
    write_file("{}");
    assert_int_equal(truncate(path, 2 * 1024 * 1024), 0);
    assert_int_equal(engine_config_load(&config, path, &host, message, sizeof message), -1);
    assert_non_null(strstr(message, "too large"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_file_the_host_decides),
        cmocka_unit_test(the_default_file_is_found),
        cmocka_unit_test(templates_have_their_own_limits),
        cmocka_unit_test(a_wrong_file_is_refused_with_its_name_and_the_field),
        cmocka_unit_test(a_file_that_was_named_has_to_be_there),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
