/*
 * local_socket.h - the sockets of transfers, opened by us: close-on-exec always. For the local
 * engine the listener's owner is checked before anything is sent, and the reason of a failure is
 * found out.
 */
#ifndef STEPBOX_CORE_LOCAL_SOCKET_H
#define STEPBOX_CORE_LOCAL_SOCKET_H

#include "config.h"

#include <curl/curl.h>

/* Belongs to a transfer, and lives as long. */
struct sbi_dial {
    const struct sbi_config *config;
    CURL *easy;
    bool once; /* the request must not reach a server twice */
    int fd;    /* the socket opened last, -1: none, a kept connection serves */
    /* What came of it: */
    int failure;       /* errno of a local connection that failed; EAGAIN: worth another try */
    bool is_impostor;  /* the listener belongs to somebody else */
    bool was_repeated; /* `once`, and libcurl was about to send the request again */
};

/* Makes the transfer open its sockets through dial. */
void sbi_dial_apply(struct sbi_dial *dial, const struct sbi_config *config, CURL *easy);

/* After a transfer: sets dial->failure when it failed for want of a local connection. */
void sbi_dial_explain(struct sbi_dial *dial, CURLcode result);

/* A non-blocking connection to the local engine, without libcurl. -1 with errno: EAGAIN: worth
 * another try, EPERM: the listener belongs to somebody else. */
int sbi_local_connect(const struct sbi_config *config);

#endif
