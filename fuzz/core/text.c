/* Foreign text on its way into messages, URLs and headers. */
#include "text.h"

#include "../fuzz.h"

static void check_excerpt(const char *bytes, size_t length, size_t size) {
    char *out = fuzz_allocate(size);
    FUZZ_CHECK(sbi_text_excerpt(out, size, bytes, length) == out);
    FUZZ_CHECK(strlen(out) < size && fuzz_is_printable(out));
    free(out);
}

static void check_encoded(const char *bytes, size_t length) {
    struct sbi_buffer out;
    sbi_buffer_init(&out, length * 3);
    FUZZ_CHECK(sbi_percent_encode(&out, bytes, length) == SB_OK);
    const char *text = sbi_buffer_string(&out);
    for (const char *c = text; *c; c++)
        FUZZ_CHECK(strchr("-._~%", *c) || (*c >= '0' && *c <= '9') ||
                   ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z'));
    FUZZ_CHECK(strlen(text) == out.length);
    sbi_buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    size_t size = 1 + fuzz_byte(&input);
    char *copy = fuzz_copy(input.bytes, input.length);
    char *text = fuzz_string(input.bytes, input.length);
    check_excerpt(copy, input.length, size);
    check_encoded(copy, input.length);
    if (sbi_is_sandbox_id(text) || sbi_is_domain(text))
        FUZZ_CHECK(!strpbrk(text, "/%?#@ \r\n\\") && *text);
    if (sbi_is_header_value(text) || sbi_is_header_name(text))
        FUZZ_CHECK(!strpbrk(text, "\r\n"));
    sbi_text_clean(text);
    FUZZ_CHECK(fuzz_is_printable(text));
    size_t limit = size < strlen(text) ? size : strlen(text), floor = sbi_utf8_floor(text, limit);
    FUZZ_CHECK(floor <= limit && floor + 4 > limit);
    text[floor] = '\0';
    FUZZ_CHECK(fuzz_is_printable(text));
    free(text);
    free(copy);
    return 0;
}
