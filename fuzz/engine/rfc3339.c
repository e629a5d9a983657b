/* Times that clients give: what is taken is shown as a text that means the same. */
#include "rfc3339.h"

#include "../fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *text = fuzz_string(bytes, length), shown[RFC3339_SIZE];
    int64_t ms = 0, again = 0;
    if (rfc3339_parse(text, &ms) == 0) {
        rfc3339_format(ms, shown);
        /* But for those that an offset moves out of the years that can be given. */
        if (ms >= 0 && ms < INT64_C(253402300800000))
            FUZZ_CHECK(rfc3339_parse(shown, &again) == 0 && again == ms);
    }
    free(text);
    return 0;
}
