/*
 * inside.h - what stepbox-egress does inside a sandbox's namespaces. Each call takes milliseconds,
 * and returns 0, or -1 with a message for people.
 */
#ifndef STEPBOX_INSIDE_H
#define STEPBOX_INSIDE_H

#include "namespaces.h"

/* Sockets that belong to the sandbox's network although they are ours; non-blocking. */
struct inside_sockets {
    int dns_udp, dns_tcp; /* LINK_RESOLVER */
    int tunnels[2];       /* LINK_TUNNEL_PORT, for IPv4 and IPv6 */
};

int inside_open_sockets(const struct namespaces *ns, struct inside_sockets *sockets, char *message,
                        size_t room);

/* Loads a ruleset with nft; all of it or nothing. */
int inside_load_rules(const struct namespaces *ns, const char *rules, char *message, size_t room);

/* Waits until the link has a default route, for so many milliseconds at most, or until the other
 * end of stop_fd is closed (then 0 as well). both: of IPv4 and IPv6, though the second is not
 * waited for as long. */
int inside_await_link(const struct namespaces *ns, bool both, int milliseconds, int stop_fd,
                      char *message, size_t room);

/* Puts a file that names LINK_RESOLVER over the sandbox's /etc/resolv.conf. */
int inside_name_resolver(const struct namespaces *ns, char *message, size_t room);

#endif
