/* The parameters of a request for a sandbox's log: refused by name, or kept. */
#include "log_query.h"

#include "../fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct log_query query;
    log_query_init(&query, fuzz_byte(&input) & 1 ? 1 : 2);
    while (input.length) {
        char *name = fuzz_line(&input), *value = fuzz_line(&input), message[300] = "";
        int status = log_query_set(&query, name, value, message, sizeof message);
        FUZZ_CHECK((status == 0) == (message[0] == '\0'));
        free(name);
        free(value);
    }
    FUZZ_CHECK(memchr(query.search, '\0', sizeof query.search));
    FUZZ_CHECK(query.level <= LOG_LEVEL_DEBUG);
    return 0;
}
