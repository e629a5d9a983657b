/* Heads of requests on their way to a server far away: what comes out is one head, for our host,
 * with our lines once, and nothing of the client's that is ours to say. */
#include "forward_head.h"

#include "../fuzz.h"

#include <strings.h>

static const struct sbi_forward_rules rules = {
    .host = "8000-i1.example", .prefix = "/p", .lines = "X-Access-Token: secret\r\n"};

/* How many lines of the head begin with the name. */
static size_t count(const char *head, const char *name) {
    size_t found = 0;
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        found += strncasecmp(line + 2, name, strlen(name)) == 0;
    return found;
}

static void check(const struct sbi_buffer *out, size_t used, size_t length, bool upgrade) {
    const char *head = sbi_buffer_string(out);
    FUZZ_CHECK(used <= length && strlen(head) == out->length);
    const char *end = strstr(head, "\r\n\r\n");
    FUZZ_CHECK(end && end + 4 == head + out->length);
    for (const char *c = head; *c; c++)
        FUZZ_CHECK((*c != '\n' || c[-1] == '\r') && (*c != '\r' || c[1] == '\n'));
    FUZZ_CHECK(count(head, "Host:") == 1 && count(head, "E2b-Sandbox-Id:") == 0);
    FUZZ_CHECK(count(head, "E2b-Traffic-Access-Token:") == 0);
    FUZZ_CHECK(upgrade || (count(head, "Connection:") == 1 && count(head, "Upgrade:") == 0));
    FUZZ_CHECK(strstr(head, "\r\nHost: 8000-i1.example\r\nX-Access-Token: secret\r\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *head = fuzz_copy(bytes, length);
    struct sbi_buffer out, again;
    size_t used, used_again;
    bool upgrade = false, upgrade_again;
    sbi_buffer_init(&out, 4 * SBI_FORWARD_HEAD_MAX);
    sbi_buffer_init(&again, 4 * SBI_FORWARD_HEAD_MAX);
    if (sbi_forward_head_rewrite(head, length, &rules, &out, &used, &upgrade) ==
        SBI_FORWARD_HEAD_DONE) {
        check(&out, used, length, upgrade);
        /* It is a head that can be passed on itself. */
        FUZZ_CHECK(sbi_forward_head_rewrite(out.data, out.length, &rules, &again, &used_again,
                                            &upgrade_again) == SBI_FORWARD_HEAD_DONE);
        FUZZ_CHECK(used_again == out.length && upgrade_again == upgrade);
    }
    sbi_buffer_free(&out);
    sbi_buffer_free(&again);
    free(head);
    return 0;
}
