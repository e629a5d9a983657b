/*
 * host_addresses.h - tells when the host gets or loses an address: the firewall names them all.
 */
#ifndef STEPBOX_HOST_ADDRESSES_H
#define STEPBOX_HOST_ADDRESSES_H

#include <ev.h>

/* Calls `changed` after changes, several that come close together once, as long as the process
 * lives. 0, or -1 with errno. */
int host_addresses_watch(struct ev_loop *loop, void (*changed)(void));

#endif
