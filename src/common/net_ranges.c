#include "net_ranges.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const net_special specials[] = {
    {"0.0.0.0/8", AF_INET, NET_NEVER},          /* "this host": reaches loopback */
    {"127.0.0.0/8", AF_INET, NET_NEVER},        /* loopback */
    {"169.254.0.0/16", AF_INET, NET_NEVER},     /* link-local; metadata services */
    {"168.63.129.16/32", AF_INET, NET_NEVER},   /* a metadata service with a public address */
    {"100.100.100.200/32", AF_INET, NET_NEVER}, /* one in the range of carriers */
    {"192.0.0.192/32", AF_INET, NET_NEVER},     /* one in the range of protocols */
    {"224.0.0.0/4", AF_INET, NET_NEVER},        /* multicast */
    {"240.0.0.0/4", AF_INET, NET_NEVER},        /* reserved, and broadcast */
    {"192.0.2.0/24", AF_INET, NET_NEVER},       /* the sandbox's own link: see egress/link.h */
    {"198.18.0.0/15", AF_INET, NET_NEVER},      /* stands for names: see egress/name_pool.h */
    {"10.0.0.0/8", AF_INET, NET_PRIVATE},
    {"100.64.0.0/10", AF_INET, NET_PRIVATE}, /* carriers */
    {"172.16.0.0/12", AF_INET, NET_PRIVATE},
    {"192.0.0.0/24", AF_INET, NET_PRIVATE},   /* protocols */
    {"192.88.99.0/24", AF_INET, NET_PRIVATE}, /* relays of 6to4 */
    {"192.168.0.0/16", AF_INET, NET_PRIVATE},
    {"::/96", AF_INET6, NET_NEVER},             /* unspecified, loopback, IPv4-compatible */
    {"::ffff:0:0/96", AF_INET6, NET_NEVER},     /* IPv4-mapped */
    {"::ffff:0:0:0/96", AF_INET6, NET_NEVER},   /* IPv4-translated */
    {"64:ff9b::/96", AF_INET6, NET_NEVER},      /* NAT64: any IPv4 address */
    {"64:ff9b:1::/48", AF_INET6, NET_NEVER},    /* the same, local */
    {"2001::/32", AF_INET6, NET_NEVER},         /* Teredo: embeds IPv4 */
    {"2002::/16", AF_INET6, NET_NEVER},         /* 6to4: embeds IPv4 */
    {"fe80::/10", AF_INET6, NET_NEVER},         /* link-local */
    {"fec0::/10", AF_INET6, NET_NEVER},         /* site-local, deprecated */
    {"ff00::/8", AF_INET6, NET_NEVER},          /* multicast */
    {"fd00:ec2::254/128", AF_INET6, NET_NEVER}, /* metadata */
    {"fd20:ce::254/128", AF_INET6, NET_NEVER},  /* metadata */
    {"fd00:5b::/64", AF_INET6, NET_NEVER},      /* the sandbox's own link */
    {"fc00::/7", AF_INET6, NET_PRIVATE},        /* unique local */
    {"100::/64", AF_INET6, NET_PRIVATE},        /* discarded */
};

const net_special *net_special_at(size_t index) {
    return index < sizeof specials / sizeof *specials ? &specials[index] : NULL;
}

static unsigned char *bytes_of(net_range *range) {
    return range->family == AF_INET ? (unsigned char *)&range->address.v4
                                    : range->address.v6.s6_addr;
}

static int width(const net_range *range) {
    return range->family == AF_INET ? 32 : 128;
}

/* Clears what lies below the prefix. */
static void mask(net_range *range) {
    unsigned char *bytes = bytes_of(range);
    for (int i = 0; i < width(range) / 8; i++) {
        int kept = range->bits - i * 8;
        if (kept <= 0)
            bytes[i] = 0;
        else if (kept < 8)
            bytes[i] &= (unsigned char)(0xff << (8 - kept));
    }
}

/* Decimal without a sign or leading zeros, up to most. */
static bool prefix_length(const char *text, int most, int *bits) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 3 || text[digits] || (text[0] == '0' && digits > 1))
        return false;
    *bits = atoi(text);
    return *bits <= most;
}

bool net_range_parse(const char *text, net_range *range) {
    char address[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, "/");
    if (length == 0 || length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    *range = (net_range){.family = strchr(address, ':') ? AF_INET6 : AF_INET};
    /* inet_pton takes four decimal numbers alone, with no leading zeros, and no zones. */
    if (inet_pton(range->family, address, &range->address) != 1)
        return false;
    range->bits = width(range);
    if (text[length] && !prefix_length(text + length + 1, range->bits, &range->bits))
        return false;
    mask(range);
    return true;
}

void net_range_format(const net_range *range, char text[NET_RANGE_TEXT]) {
    char address[INET6_ADDRSTRLEN] = "";
    inet_ntop(range->family, &range->address, address, sizeof address);
    snprintf(text, NET_RANGE_TEXT, "%s/%d", address, range->bits);
}

bool net_range_covers(const net_range *range, const net_range *within) {
    if (range->family != within->family || range->bits > within->bits)
        return false;
    net_range cut = *within, wide = *range;
    cut.bits = range->bits;
    mask(&cut);
    mask(&wide);
    return memcmp(bytes_of(&cut), bytes_of(&wide), (size_t)width(range) / 8) == 0;
}

bool net_range_of(const struct sockaddr *address, net_range *range) {
    if (address->sa_family == AF_INET) {
        *range = (net_range){.family = AF_INET, .bits = 32};
        range->address.v4 = ((const struct sockaddr_in *)address)->sin_addr;
        return true;
    }
    if (address->sa_family != AF_INET6)
        return false;
    const struct in6_addr *v6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(v6)) {
        *range = (net_range){.family = AF_INET, .bits = 32};
        memcpy(&range->address.v4, &v6->s6_addr[12], 4);
    } else {
        *range = (net_range){.family = AF_INET6, .bits = 128};
        range->address.v6 = *v6;
    }
    return true;
}

bool net_range_within(const net_range *range, net_class class) {
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        net_range special;
        if (specials[i].class == class && specials[i].family == range->family &&
            net_range_parse(specials[i].text, &special) && net_range_covers(&special, range))
            return true;
    }
    return false;
}

net_class net_range_class(const net_range *range) {
    net_class strictest = NET_PUBLIC;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        net_range special;
        if (specials[i].family == range->family && net_range_parse(specials[i].text, &special) &&
            (net_range_covers(&special, range) || net_range_covers(range, &special)) &&
            specials[i].class > strictest)
            strictest = specials[i].class;
    }
    return strictest;
}
