/*
 * local_socket.h - connections that libcurl uses, opened by us: close-on-exec always, and for the
 * local engine connected here, so that the reason of a failure is known and the listener's owner is
 * checked.
 */
#ifndef STEPBOX_CORE_LOCAL_SOCKET_H
#define STEPBOX_CORE_LOCAL_SOCKET_H

#include "config.h"

#include <curl/curl.h>

/* Set on a transfer as CURLOPT_OPENSOCKETDATA; lives as long as the transfer. */
struct sbi_dial {
    const struct sbi_config *config;
    CURL *easy;
    bool once; /* the request must not reach a server twice */
    /* What came of it: */
    int failure;       /* errno of the last try, 0 when none failed */
    bool is_impostor;  /* the listener belongs to somebody else */
    bool was_repeated; /* `once`, and libcurl was about to send the request again */
};

/* Makes the transfer open its sockets through dial. */
void sbi_dial_apply(struct sbi_dial *dial);

#endif
