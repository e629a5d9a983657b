/*
 * link.h - the addresses of the link that a sandbox with internet gets. The same in each sandbox,
 * and from ranges that are nobody's: they tell nothing about the host, and hide nothing from it.
 */
#ifndef STEPBOX_LINK_H
#define STEPBOX_LINK_H

#define LINK_NAME "eth0"
#define LINK_ADDRESS "192.0.2.2"
#define LINK_GATEWAY "192.0.2.1"
#define LINK_BITS "24"
#define LINK_RANGE "192.0.2.0/24"
#define LINK_ADDRESS6 "fd00:5b::2"
#define LINK_GATEWAY6 "fd00:5b::1"

/* Where the sandbox asks for names, and where its connections are led that are not let out as they
 * are. Low ports, which code without capabilities cannot have. */
#define LINK_RESOLVER "127.0.0.53"
#define LINK_RESOLVER_PORT 53
#define LINK_TUNNEL_PORT 1023

/* Descriptors that the engine hands to stepbox-egress. */
#define EGRESS_CONTROL_FD 3
#define EGRESS_PIDFD 4

/* The most bytes of one message on the control socket. */
#define EGRESS_MESSAGE_MAX (160 * 1024)

#endif
