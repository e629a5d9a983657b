/*
 * socket_claim.h - one engine per socket: who serves it is decided here, and it is given up here.
 *
 * Everything is done under a lock (flock) on the socket's directory, which belongs to us alone.
 * Whoever holds it may bind or unlink the socket; nobody holds it for longer than that takes.
 */
#ifndef STEPBOX_SOCKET_CLAIM_H
#define STEPBOX_SOCKET_CLAIM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct socket_claim {
    char path[108]; /* as sockaddr_un has it */
    char directory[108];
    dev_t device; /* which file it is: another engine may have put its own in our place */
    ino_t inode;
    int listen_fd; /* listening, non-blocking, CLOEXEC */
} socket_claim;

typedef enum claim_result {
    CLAIM_OURS,   /* listening */
    CLAIM_SERVED, /* another engine serves this socket */
    CLAIM_FAILED  /* message says why */
} claim_result;

/* Makes the directory when it is missing (its last component), refuses one that others could write
 * to, and takes the socket; one that an engine left behind is replaced. */
claim_result socket_claim_take(socket_claim *claim, const char *path, char *message, size_t room);

/* Gives the socket up when no client is on its way to it: closes listen_fd, unlinks, and returns
 * true. Returns false, with everything as before, when a client is waiting or somebody else holds
 * the lock. Takes up to 20 ms. */
bool socket_claim_leave(socket_claim *claim);

/* Stops listening, in every process that has a copy of listen_fd, and closes it. */
void socket_claim_close(struct socket_claim *claim);

/* Unlinks the socket if it is still ours and nobody listens on it: socket_claim_close() first. */
void socket_claim_withdraw(const socket_claim *claim);

#endif
