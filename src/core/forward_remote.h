/*
 * forward_remote.h - a forwarded connection's way to a server that libcurl connects to.
 */
#ifndef STEPBOX_CORE_FORWARD_REMOTE_H
#define STEPBOX_CORE_FORWARD_REMOTE_H

#include "forward_connection.h"

/* Makes of connection->head what is to be sent (malloc()ed): the rewritten head, and what came
 * behind it. */
enum sbi_forward_head_result sbi_forward_remote_rewrite(struct sbi_forward_connection *connection,
                                                        char **request, size_t *length);

/* Has libcurl connect, on connection->multi. 0, or -1 without memory. */
int sbi_forward_remote_connect(struct sbi_forward_connection *connection);
/* Takes what libcurl says of it. 0 when connection->far can be used, else -1, and
 * connection->complaint says why. */
int sbi_forward_remote_connected(struct sbi_forward_connection *connection, CURLcode result);
void sbi_forward_remote_close(struct sbi_forward_connection *connection);

#endif
