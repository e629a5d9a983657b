/*
 * control_socket.h - how the engine hands connections to the agent of a sandbox, and what the agent
 * hands back.
 *
 * One AF_UNIX SOCK_SEQPACKET pair per sandbox; the agent inherits its end as `--control N`. The
 * engine sends one datagram, with exactly one descriptor, for each new connection. The agent sends
 * one, with the listener of its filter of system calls, before it does anything else. End of file
 * means that the other side has gone.
 */
#ifndef STEPBOX_CONTROL_SOCKET_H
#define STEPBOX_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/* flags: the engine itself speaks on this connection, not a client of it */
#define CONTROL_FROM_ENGINE 0x01
/* flags: say CONTROL_ACCEPTED on the connection, before anything else, once the port has accepted
 * it; one that is closed without it was refused */
#define CONTROL_ANNOUNCE 0x02

#define CONTROL_ACCEPTED 0x06 /* ASCII's ACK */

/* word: the descriptor is what seccomp(2) gave for the filter that the agent has installed */
#define CONTROL_LISTENER 'L'

typedef struct control_connection {
    int fd;        /* a connected stream socket, CLOEXEC */
    uint16_t port; /* the sandbox port that the client asked for, host order */
    uint8_t flags; /* CONTROL_FROM_ENGINE, CONTROL_ANNOUNCE */
    uint8_t word;  /* 0: a connection; or CONTROL_LISTENER, and only fd counts */
} control_connection;

typedef enum control_result {
    CONTROL_OK = 0,
    CONTROL_AGAIN,  /* nothing to receive, or no room to send; only on non-blocking sockets */
    CONTROL_CLOSED, /* the other side has gone */
    CONTROL_ERROR   /* errno says what; EPROTO when the datagram is not one of ours */
} control_result;

/* Makes the pair: ends[0] is the engine's (non-blocking, CLOEXEC), ends[1] the agent's (blocking,
 * CLOEXEC; whoever starts the agent clears that). 0, or -1 with errno. */
int control_socket_pair(int ends[2]);

/* Sends one connection. The caller keeps its own copy of connection->fd and closes it. Never raises
 * SIGPIPE. */
control_result control_socket_send(int control_fd, const control_connection *connection);

/* Receives one connection; connection->fd is the caller's then. After CONTROL_ERROR with errno
 * EPROTO every descriptor that came has been closed and the socket can still be read. */
control_result control_socket_receive(int control_fd, control_connection *connection);

/* A connection as a message of its kind (control_message.h), and the way back: it is taken out of
 * the message; false when that is of another kind. */
struct control_message;
void control_socket_message(const control_connection *connection, struct control_message *message);
bool control_socket_connection(struct control_message *message, control_connection *connection);

#endif
