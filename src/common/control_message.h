/*
 * control_message.h - one datagram on the control socket between the engine and an agent, with the
 * descriptors that come with it. What the kinds mean is said where they are used:
 * control_socket.h (connections), runner_message.h (runners).
 *
 * Neither side trusts the other: a datagram that is not of this form is refused as a whole, and
 * what came with it is closed.
 */
#ifndef STEPBOX_CONTROL_MESSAGE_H
#define STEPBOX_CONTROL_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "control_socket.h"

#define CONTROL_FDS_MAX 4

struct control_message {
    uint8_t kind;
    uint8_t flags;
    uint16_t number;
    size_t count; /* of descriptors */
    int fds[CONTROL_FDS_MAX];
};
typedef struct control_message control_message;

/* The caller keeps its own copies of the descriptors. Never raises SIGPIPE. */
control_result control_message_send(int control_fd, const control_message *message);

/* The descriptors (CLOEXEC) are the caller's then. After CONTROL_ERROR with errno EPROTO every
 * descriptor that came has been closed and the socket can still be read. */
control_result control_message_receive(int control_fd, control_message *message);

void control_message_close(control_message *message);

#endif
