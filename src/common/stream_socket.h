/*
 * stream_socket.h - small questions about and deeds on connected stream sockets.
 */
#ifndef STEPBOX_STREAM_SOCKET_H
#define STEPBOX_STREAM_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sends what the socket takes now, without SIGPIPE. Returns how many bytes, or -1 when it takes
 * nothing any more. */
ssize_t stream_socket_send(int fd, const char *bytes, size_t length);

/* Whether the other side has closed both ways, rather than only its sending half. A unix socket
 * tells at once; TCP when a reset has come, or both sides have ended. */
bool stream_socket_is_hung_up(int fd);

/* Closes so that the other side sees a connection that broke, not one that ended. On a unix socket
 * there is no such thing: it is closed both ways at once. */
void stream_socket_reset(int fd);

#endif
