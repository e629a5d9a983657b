/* What a runner sends to the agent, made of bytes that code has chosen: always one line of ASCII
 * that jansson reads as a string; valid UTF-8 comes back unchanged. */
#include "shared/line.h"

#include "../fuzz.h"

#include <jansson.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct line line = {0};
    char *copy = fuzz_copy(bytes, length);
    line_add_string(&line, copy, length);
    FUZZ_CHECK(!line.failed);
    for (size_t i = 0; i < line.length; i++)
        FUZZ_CHECK(line.bytes[i] >= ' ' && line.bytes[i] < 0x7f);
    json_t *read = json_loadb(line.bytes, line.length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    FUZZ_CHECK(json_is_string(read));
    json_t *valid = json_stringn(copy, length);
    FUZZ_CHECK(!valid || json_equal(valid, read));
    FUZZ_CHECK(valid || strstr(line.bytes, "\\ufffd"));
    json_decref(valid);
    json_decref(read);
    line_free(&line);
    free(copy);
    return 0;
}
