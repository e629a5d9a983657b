/* Addresses and ranges as text: what is taken is written so that it means the same, and the table
 * of what is not public is no gentler to a part than to the whole. */
#include "net_ranges.h"

#include "../fuzz.h"

#include <sys/socket.h>

/* An address of the range, by the socket that would lead to it. */
static void check_address(const net_range *range) {
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr = range->address.v4};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = range->address.v6};
    net_range address;
    const struct sockaddr *socket =
        range->family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    FUZZ_CHECK(net_range_of(socket, &address));
    if (address.family != range->family)
        return; /* written as IPv6, and really IPv4 */
    FUZZ_CHECK(net_range_covers(range, &address));
    FUZZ_CHECK(net_range_class(range) >= net_range_class(&address));
    FUZZ_CHECK(!net_range_within(range, NET_NEVER) || net_range_within(&address, NET_NEVER));
}

static void check_mapped(const net_range *range) {
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    net_range address;
    if (range->family != AF_INET)
        return;
    v6.sin6_addr.s6_addr[10] = v6.sin6_addr.s6_addr[11] = 0xff;
    memcpy(&v6.sin6_addr.s6_addr[12], &range->address.v4, 4);
    FUZZ_CHECK(net_range_of((struct sockaddr *)&v6, &address) && address.family == AF_INET);
    FUZZ_CHECK(net_range_covers(range, &address));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    char *text = fuzz_string(bytes, length), shown[NET_RANGE_TEXT], twice[NET_RANGE_TEXT];
    net_range range, again;
    if (net_range_parse(text, &range)) {
        FUZZ_CHECK(strspn(text, "0123456789abcdefABCDEF.:/") == strlen(text));
        FUZZ_CHECK(range.bits >= 0 && range.bits <= (range.family == AF_INET ? 32 : 128));
        net_range_format(&range, shown);
        FUZZ_CHECK(net_range_parse(shown, &again));
        net_range_format(&again, twice);
        FUZZ_CHECK(strcmp(shown, twice) == 0 && net_range_covers(&range, &again));
        FUZZ_CHECK(net_range_covers(&again, &range));
        check_address(&range);
        check_mapped(&range);
    }
    free(text);
    return 0;
}
