/* What a client says first: the name in it is one, and is the same however much more has come. */
#include "hello.h"

#include "../fuzz.h"

typedef hello_result hello_reader(const uint8_t *bytes, size_t length, char name[HELLO_NAME_MAX]);

static void check_name(const char *name) {
    size_t length = strlen(name);
    FUZZ_CHECK(length > 0 && length < HELLO_NAME_MAX);
    FUZZ_CHECK(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == length);
    FUZZ_CHECK(strspn(name, "0123456789.") < length);
    FUZZ_CHECK(name[0] != '.' && name[length - 1] != '.' && !strstr(name, ".."));
}

static void check(hello_reader *read, const struct fuzz_input *input, size_t part) {
    char name[HELLO_NAME_MAX] = "", early[HELLO_NAME_MAX] = "";
    uint8_t *all = (uint8_t *)fuzz_copy(input->bytes, input->length);
    uint8_t *some = (uint8_t *)fuzz_copy(input->bytes, part);
    hello_result result = read(all, input->length, name), before = read(some, part, early);
    FUZZ_CHECK(before == HELLO_MORE || before == result);
    if (result == HELLO_DONE)
        check_name(name);
    if (before == HELLO_DONE)
        FUZZ_CHECK(strcmp(name, early) == 0);
    free(all);
    free(some);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    size_t part = fuzz_byte(&input) * 4;
    part = part < input.length ? part : input.length;
    check(hello_tls, &input, part);
    check(hello_http, &input, part);
    return 0;
}
