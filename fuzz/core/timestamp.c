/* Times as RFC 3339: both readers take the same texts, and say the same time. */
#include "timestamp.h"

#include "../fuzz.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *text = fuzz_copy(bytes, length);
    double seconds = 0;
    int64_t whole = 0;
    int nanoseconds = 0;
    bool good = sbi_timestamp_parse(text, length, &seconds);
    FUZZ_CHECK(good == sbi_timestamp_parse_exact(text, length, &whole, &nanoseconds));
    if (good) {
        FUZZ_CHECK(nanoseconds >= 0 && nanoseconds < 1000000000);
        FUZZ_CHECK(fabs(seconds - ((double)whole + nanoseconds / 1e9)) < 1e-3);
        FUZZ_CHECK(length >= 20);
    }
    free(text);
    return 0;
}
