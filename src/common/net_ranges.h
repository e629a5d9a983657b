/*
 * net_ranges.h - the addresses that are not the public internet, in one table: the firewall of a
 * sandbox is made from it, and names are checked against it after they were resolved.
 */
#ifndef STEPBOX_NET_RANGES_H
#define STEPBOX_NET_RANGES_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum net_class {
    NET_PUBLIC,
    NET_PRIVATE, /* closed unless it is allowed by its address */
    NET_NEVER    /* closed whatever is allowed */
} net_class;

/* An address or a range, IPv4 or IPv6. */
typedef struct net_range {
    int family; /* AF_INET, AF_INET6 */
    union {
        struct in_addr v4;
        struct in6_addr v6;
    } address;
    int bits;
} net_range;

#define NET_RANGE_TEXT 64 /* with its NUL */

/* The table; text is "10.0.0.0/8". NULL behind its end. */
typedef struct net_special {
    const char *text;
    int family;
    net_class class;
} net_special;
const net_special *net_special_at(size_t index);

/* Parses "192.0.2.1", "192.0.2.0/24", "2001:db8::/32" and nothing else: no short, octal,
 * hexadecimal or zoned forms. Bits below the prefix are cleared. False when it is none. */
bool net_range_parse(const char *text, net_range *range);
/* Writes "192.0.2.0/24". */
void net_range_format(const net_range *range, char text[NET_RANGE_TEXT]);
/* Whether all of the second is in the first. */
bool net_range_covers(const net_range *range, const net_range *within);
/* The range of one address: AF_INET or AF_INET6. An IPv4 address that is written as IPv6
 * (::ffff:a.b.c.d) becomes IPv4. False for other families. */
bool net_range_of(const struct sockaddr *address, net_range *range);
/* Whether all of the range is in one row of the class. */
bool net_range_within(const net_range *range, net_class class);
/* What the strictest row of the table says about any part of the range. */
net_class net_range_class(const net_range *range);

#endif
