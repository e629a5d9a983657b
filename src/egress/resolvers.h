/*
 * resolvers.h - the resolvers that the host uses, from its /etc/resolv.conf.
 */
#ifndef STEPBOX_RESOLVERS_H
#define STEPBOX_RESOLVERS_H

#include <netinet/in.h>
#include <stddef.h>

#define RESOLVERS_MAX 3

union resolver {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Reads them anew when the file has changed. Returns how many; one at least. Safe
 * to use from several threads. */
size_t resolvers_read(union resolver list[RESOLVERS_MAX]);

#endif
