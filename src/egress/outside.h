/*
 * outside.h - connections from the host's side: to a name, to an address, or through a SOCKS5
 * proxy. Calls block, for ten seconds at most.
 */
#ifndef STEPBOX_OUTSIDE_H
#define STEPBOX_OUTSIDE_H

#include <stdint.h>
#include <sys/socket.h>

#include "policy.h"

/* Each returns a connected socket, or -1. */

/* Resolves the name and connects to the first of its addresses that answers; those that the policy
 * does not open are left out, so that no name leads to a private address. */
int outside_connect(const struct policy *policy, const char *name, uint16_t port);

/* Through the policy's proxy, which resolves the name. Not to the proxy itself, and to no name that
 * is an address in disguise. */
int outside_proxy_name(const struct policy *policy, const char *name, uint16_t port);
int outside_proxy_address(const struct policy *policy, const struct sockaddr *address);

/* To an address as it is, with a deadline. */
int outside_connect_address(const struct sockaddr *address, socklen_t length);

#endif
