/* Names in a tar stream: what is left of one leads nowhere but down. */
#include "below.h"

#include "../fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *name = fuzz_string(bytes, length);
    sb_error error = {0};
    char *clean = below_clean(name, &error);
    FUZZ_CHECK((clean == NULL) == (error.code != SB_OK));
    FUZZ_CHECK(clean || (error.message[0] && fuzz_is_printable(error.message)));
    if (clean) {
        FUZZ_CHECK(*name != '/' && strlen(clean) <= strlen(name));
        FUZZ_CHECK(*clean != '/' && !strstr(clean, "//"));
        for (char *at = clean; *at;) {
            size_t part = strcspn(at, "/");
            FUZZ_CHECK(part > 0 && !(part == 1 && *at == '.'));
            FUZZ_CHECK(!(part == 2 && memcmp(at, "..", 2) == 0));
            /* A directory is above what is in it, and not above itself's neighbour. */
            size_t upper = (size_t)(at - clean) + part;
            FUZZ_CHECK(clean[upper] == '\0' || below_is_above(clean, upper, clean));
            at += part + (at[part] == '/');
        }
        size_t clean_length = strlen(clean);
        FUZZ_CHECK(clean_length == 0 || clean[clean_length - 1] != '/');
    }
    free(clean);
    free(name);
    return 0;
}
