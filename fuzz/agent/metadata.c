/* Small things in JSON that requests carry: metadata of files, environment variables, numbers and
 * flags, and names of languages. */
#include "metadata.h"

#include "environment.h"
#include "filesystem_request.h"
#include "language.h"
#include "process_request.h"

#include "../fuzz.h"

static void check_metadata(json_t *value) {
    char text[300];
    const char *fault = metadata_fault(value, text, sizeof text), *name;
    json_t *item;
    size_t total = 0;
    FUZZ_CHECK(!fault || (*fault && strlen(fault) < sizeof text && fuzz_is_printable(fault)));
    if (fault)
        return;
    json_object_foreach(value, name, item) {
        FUZZ_CHECK(*name && strlen(name) <= METADATA_KEY_MAX);
        FUZZ_CHECK(strlen(json_string_value(item)) == json_string_length(item));
        FUZZ_CHECK(fuzz_is_printable(name) && fuzz_is_printable(json_string_value(item)));
        total += strlen(name) + json_string_length(item);
    }
    FUZZ_CHECK(total <= METADATA_TOTAL_MAX);
}

static void check_environment(const json_t *value) {
    const char *name;
    json_t *item;
    bool good = json_is_object(value);
    json_object_foreach((json_t *)value, name, item) good =
        good && json_is_string(item) && !environment_fault(name, item);
    if (!good)
        return;
    char **made = environment_make(value, NULL);
    FUZZ_CHECK(made);
    for (char **variable = made; *variable; variable++) {
        const char *equals = strchr(*variable, '=');
        FUZZ_CHECK(equals && equals > *variable);
    }
    free(made);
}

static void check_numbers(const json_t *value) {
    json_int_t number;
    uint32_t small;
    unsigned cols, rows;
    bool flag;
    process_fault fault;
    if (process_request_number(value, 1000, &number))
        FUZZ_CHECK(number >= 0 && number <= 1000);
    if (process_request_number(value, INT64_MAX, &number))
        FUZZ_CHECK(number >= 0);
    if (filesystem_number(value, &small) && json_is_integer(value))
        FUZZ_CHECK((json_int_t)small == json_integer_value(value));
    filesystem_flag(value, &flag);
    if (process_request_size(value, &cols, &rows, &fault))
        FUZZ_CHECK(cols > 0 && cols <= 65535 && rows > 0 && rows <= 65535);
}

static void check_language(const char *name) {
    char normal[LANGUAGE_NAME_MAX], again[LANGUAGE_NAME_MAX];
    language_normalize(name, normal);
    FUZZ_CHECK(memchr(normal, '\0', sizeof normal) && *normal);
    language_normalize(normal, again);
    FUZZ_CHECK(strcmp(normal, again) == 0 || strlen(normal) == sizeof normal - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    json_t *value = json_loadb((const char *)bytes, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    char *text = fuzz_string(bytes, length);
    if (value) {
        check_metadata(value);
        check_environment(value);
        check_numbers(value);
    }
    check_language(text);
    json_decref(value);
    free(text);
    return 0;
}
