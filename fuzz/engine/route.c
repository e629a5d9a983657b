/* The head of the first request on a connection: the answer must not depend on the pieces in which
 * it comes, and what is passed on is exactly what two readers of it agree about. */
#include "raw_reply.h"
#include "route.h"

#include "../fuzz.h"

#include <ctype.h>

static void check(const struct route *route, const char *bytes, size_t length) {
    FUZZ_CHECK(route->head_length >= 4 && route->head_length <= length);
    FUZZ_CHECK(memcmp(bytes + route->head_length - 4, "\r\n\r\n", 4) == 0);
    FUZZ_CHECK(!route->api_key || (route->api_key >= bytes &&
                                   route->api_key + route->api_key_length <= bytes + length));
    FUZZ_CHECK(!route->chunked || route->content_length == 0);
    FUZZ_CHECK(!(route->tunnel && (route->chunked || route->content_length)));
    FUZZ_CHECK(!route->tunnel || route->to_sandbox);
    FUZZ_CHECK(!route->by_header || route->to_sandbox);
    if (!route->to_sandbox)
        return;
    size_t id = strlen(route->id);
    FUZZ_CHECK(id > 0 && id < ROUTE_ID_MAX && route->port > 0);
    for (size_t i = 0; i < id; i++)
        FUZZ_CHECK(isalnum((unsigned char)route->id[i]) || strchr("-_", route->id[i]));
}

/* What the gateway says by itself of a sandbox that is not there, or does not answer. */
static void check_replies(const struct route *route) {
    char out[RAW_REPLY_SIZE];
    for (int which = 0; which < 3; which++) {
        size_t length = which == 2 ? raw_reply_error(out, 400, route->bad ? route->bad : "x")
                                   : raw_reply_bad_gateway(out, route, which);
        FUZZ_CHECK(length > 0 && length <= RAW_REPLY_SIZE);
        const char *body = memmem(out, length, "\r\n\r\n", 4);
        FUZZ_CHECK(body && memcmp(out, "HTTP/1.1 ", 9) == 0);
        json_t *root = json_loadb(body + 4, length - (size_t)(body + 4 - out), 0, NULL);
        FUZZ_CHECK(json_is_object(root));
        json_decref(root);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct route whole = {0}, grown = {0};
    size_t scanned = 0, have = 0;
    unsigned how = fuzz_byte(&input);
    char *head = fuzz_copy(input.bytes, input.length), *piece;
    enum route_result expected = route_parse(head, input.length, &scanned, &whole);
    if (expected == ROUTE_DONE)
        check(&whole, head, input.length);
    if (expected == ROUTE_BAD)
        FUZZ_CHECK(whole.bad && *whole.bad);
    if (expected != ROUTE_MORE)
        check_replies(&whole);
    /* The same bytes as they grow. */
    enum route_result result = ROUTE_MORE;
    size_t size;
    scanned = 0;
    struct fuzz_pieces pieces = fuzz_pieces(input.bytes, input.length, how);
    while (result == ROUTE_MORE && fuzz_next(&pieces, &piece, &size)) {
        have += size;
        char *copy = fuzz_copy(input.bytes, have);
        result = route_parse(copy, have, &scanned, &grown);
        free(copy);
    }
    fuzz_stop(&pieces);
    FUZZ_CHECK(result == expected && grown.bad == whole.bad);
    FUZZ_CHECK(result == ROUTE_MORE || grown.head_length == whole.head_length);
    FUZZ_CHECK(strcmp(grown.id, whole.id) == 0 && grown.port == whole.port);
    free(head);
    return 0;
}
