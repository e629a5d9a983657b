/* The scanner of JSON against jansson: what jansson takes has no fault, a fault has its place
 * within the text, and the type of a runner's message is what its readers will see. */
#include "json_scan.h"

#include "../fuzz.h"

#include <jansson.h>

static void check_fault(const char *text, size_t length) {
    size_t position = 0;
    const char *fault = json_fault(text, length, &position);
    json_t *as_string = json_stringn(text, length);
    json_t *root = json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    FUZZ_CHECK(position <= length);
    /* jansson overlooks a NUL behind true, false and null. */
    if (root && fault)
        FUZZ_CHECK(strcmp(fault, "Nesting too deep") == 0 || memchr(text, '\0', length));
    /* It is for texts that are UTF-8. */
    if (fault && as_string)
        FUZZ_CHECK(*fault && fuzz_is_printable(fault));
    json_decref(root);
    json_decref(as_string);
}

static void check_type(const char *line, size_t length) {
    char type[8] = "";
    if (!json_object_type(line, length, type, sizeof type))
        return;
    FUZZ_CHECK(memchr(type, '\0', sizeof type) &&
               !memchr(line, '\n', length) == !strchr(type, '\n'));
    json_t *root = json_loadb(line, length, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    const char *seen = json_string_value(json_object_get(root, "type"));
    /* jansson refuses halves of surrogate pairs, numbers that are too large, and NUL in names. */
    FUZZ_CHECK(!root || (seen && strcmp(seen, type) == 0));
    json_decref(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *text = fuzz_copy(bytes, length);
    check_fault(text, length);
    if (!length || !memchr(text, '\n', length))
        check_type(text, length);
    free(text);
    return 0;
}
