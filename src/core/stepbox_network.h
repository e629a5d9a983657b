/*
 * stepbox_network.h - what a sandbox may reach. A part of stepbox.h, which includes it.
 */
#ifndef STEPBOX_NETWORK_H
#define STEPBOX_NETWORK_H

#include "stepbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Entries are addresses, ranges ("192.0.2.0/24") and, to allow, names ("example.com",
 * "*.example.com"), which need "0.0.0.0/0" among what is denied. What is allowed wins. */
typedef struct sb_network {
    const char *const *allow_out;
    size_t allow_count;
    const char *const *deny_out;
    size_t deny_count;
    /* "HOST:PORT" of a SOCKS5 proxy that all TCP goes through, or NULL; user and password, or
     * neither. */
    const char *proxy, *proxy_user, *proxy_password;
} sb_network;

/* Puts this in place of what held before, also for connections that are open. allow_internet: 0: as
 * it was, 1: yes, -1: no. */
SB_API sb_op *sb_box_set_network(sb_box *box, const sb_network *network, int allow_internet,
                                 sb_error *err);

#ifdef __cplusplus
}
#endif

#endif
