/* What the agent reads in headers: parameters, ranges, encodings, tags, dates, and signatures of
 * URLs. */
#include "content_encoding.h"
#include "file_description.h"
#include "header_parameters.h"
#include "http_range.h"
#include "signature.h"

#include "../fuzz.h"

static void check_parameter(const char *header, size_t size) {
    size_t header_length = strlen(header), length = 0;
    char *exact = fuzz_copy(header, header_length), *to = fuzz_allocate(size);
    if (header_parameter(exact, header_length, "filename", to, size, &length) ==
        HEADER_PARAMETER_FOUND) {
        FUZZ_CHECK(length < size && length < header_length && to[length] == '\0');
    }
    free(exact);
    free(to);
}

static void check_range(const char *header, uint64_t size) {
    uint64_t offset = 0, length = 0;
    if (http_range_parse(header, size, &offset, &length) == HTTP_RANGE_PART)
        FUZZ_CHECK(length > 0 && offset < size && length <= size - offset);
}

static void check_description(const char *text) {
    struct stat info = {.st_ino = 1, .st_size = 2, .st_mtim = {1796025690, 5}};
    char tag[FILE_TAG_SIZE];
    file_tag(&info, tag);
    if (file_tag_is_in(tag, text))
        FUZZ_CHECK(strchr(text, '*') || strstr(text, tag));
    file_is_unmodified_since(&info, text);
    if (file_is_what_was_read(&info, tag, text))
        FUZZ_CHECK(*text == '"' || strstr(text, "GMT"));
    char *disposition = file_disposition(text);
    FUZZ_CHECK(disposition && fuzz_is_printable(disposition));
    FUZZ_CHECK(strncmp(disposition, "inline; filename", 16) == 0);
    free(disposition);
    FUZZ_CHECK(file_content_type(text));
}

static void check_signature(const char *text) {
    signature_subject subject = {.path = text, .operation = "read", .user = "user"};
    char made[SIGNATURE_SIZE];
    signature_make(&subject, "token", made);
    FUZZ_CHECK(strlen(made) < sizeof made && signature_matches(made, &subject, "token"));
    FUZZ_CHECK(!signature_matches(made, &subject, "other"));
    FUZZ_CHECK(!signature_matches(text, &subject, "token") || strlen(text) == strlen(made));
    int64_t expiration;
    if (signature_read_expiration(text, &expiration)) {
        char shown[32];
        snprintf(shown, sizeof shown, "%lld", (long long)expiration);
        const char *digits = text + (*text == '-'), *expected = shown + (*shown == '-');
        digits += strspn(digits, "0");
        FUZZ_CHECK(strcmp(*expected == '0' ? "" : expected, digits) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    unsigned how = fuzz_byte(&input);
    char *text = fuzz_string(input.bytes, input.length);
    check_parameter(text, 1 + how);
    check_range(text, how * how);
    check_range(text, UINT64_MAX - how);
    check_description(text);
    check_signature(text);
    content_encoding encoding = content_encoding_choose(text);
    FUZZ_CHECK(encoding != CONTENT_IDENTITY || content_encoding_accepts_identity(text));
    content_encoding_parse(text);
    free(text);
    return 0;
}
