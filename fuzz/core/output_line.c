/* The fast reader of output lines agrees with jansson wherever it takes a line; escapes are undone
 * as jansson does it; mending surrogates makes them harmless. */
#include "output_line.h"

#include "../fuzz.h"

#include <jansson.h>

/* What the general way makes of the line (see step_stream.c). */
static json_t *parse(const char *line, size_t length) {
    char *mended = fuzz_copy(line, length);
    sbi_json_mend_surrogates(mended, length);
    json_t *root = json_loadb(mended, length, JSON_ALLOW_NUL, NULL);
    FUZZ_CHECK(!sbi_json_mend_surrogates(mended, length));
    free(mended);
    return root;
}

static void compare(const struct sbi_output_line *output, const json_t *root, sb_code code,
                    const struct sbi_buffer *text) {
    const json_t *expected = json_object_get(root, "text");
    const json_t *timestamp = json_object_get(root, "timestamp");
    const char *type = json_string_value(json_object_get(root, "type"));
    if (code == SB_PROTOCOL) {
        FUZZ_CHECK(!root);
        return;
    }
    FUZZ_CHECK(code == SB_OK && root && type);
    FUZZ_CHECK(strcmp(type, output->stream == SB_STDOUT ? "stdout" : "stderr") == 0);
    FUZZ_CHECK(json_string_length(expected) == text->length);
    FUZZ_CHECK(memcmp(json_string_value(expected), sbi_buffer_string(text), text->length) == 0);
    FUZZ_CHECK((timestamp != NULL) == (output->timestamp != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *line = fuzz_copy(bytes, length);
    struct sbi_output_line output;
    struct sbi_buffer text;
    sbi_buffer_init(&text, 1 << 20);
    json_t *root = parse(line, length);
    if (sbi_output_line_read(line, length, &output)) {
        sb_code code = sbi_json_unescape(&text, output.text, output.text_length);
        compare(&output, root, code, &text);
    } else {
        /* Whatever it is, the same as escapes alone. */
        sbi_json_unescape(&text, line, length);
        FUZZ_CHECK(text.length <= length);
    }
    json_decref(root);
    sbi_buffer_free(&text);
    free(line);
    return 0;
}
