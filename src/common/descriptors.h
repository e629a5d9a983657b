/*
 * descriptors.h - datagrams with descriptors in them (SCM_RIGHTS), over unix sockets.
 */
#ifndef STEPBOX_DESCRIPTORS_H
#define STEPBOX_DESCRIPTORS_H

#include <stddef.h>
#include <sys/types.h>

/* As many as the kernel lets one datagram carry. */
#define DESCRIPTORS_MAX 253

/* Sends bytes with descriptors, which the caller keeps. Never raises SIGPIPE, and goes on after a
 * signal. Returns what sendmsg(2) does. flags: such as MSG_DONTWAIT. */
ssize_t descriptors_send(int socket, const void *bytes, size_t length, const int *fds, size_t count,
                         int flags);

/* Receives bytes, and up to `most` descriptors (CLOEXEC) in their order; the others are closed, but
 * counted in *count. Goes on after a signal. Returns what recvmsg(2) does; a datagram that is
 * longer than the room is -1 with EPROTO, and nothing of it is left open. */
ssize_t descriptors_receive(int socket, void *bytes, size_t length, int *fds, size_t most,
                            size_t *count, int flags);

/* Closes one that a stranger sent: a socket that lingers must not make us wait. */
void descriptors_close_foreign(int fd);

#endif
