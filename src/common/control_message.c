#include "control_message.h"

#include <errno.h>

#include "descriptors.h"

/* What is on the wire; both ends are the same build on the same machine. */
struct datagram {
    uint8_t kind;
    uint8_t flags;
    uint16_t number;
};

static control_result failure(void) {
    switch (errno) {
    case EAGAIN:
    case ENOBUFS:
    case ETOOMANYREFS: /* descriptors in flight: they are counted per user, and come back as they
                          are read */
        return CONTROL_AGAIN;
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
        return CONTROL_CLOSED;
    default:
        return CONTROL_ERROR;
    }
}

control_result control_message_send(int control_fd, const control_message *message) {
    struct datagram datagram = {message->kind, message->flags, message->number};
    ssize_t sent =
        descriptors_send(control_fd, &datagram, sizeof datagram, message->fds, message->count, 0);
    return sent < 0 ? failure() : CONTROL_OK;
}

control_result control_message_receive(int control_fd, control_message *message) {
    struct datagram datagram = {0};
    size_t count;
    *message = (control_message){0};
    ssize_t got = descriptors_receive(control_fd, &datagram, sizeof datagram, message->fds,
                                      CONTROL_FDS_MAX, &count, 0);
    if (got < 0)
        return failure();
    message->count = count < CONTROL_FDS_MAX ? count : CONTROL_FDS_MAX;
    if (got == 0 && count == 0)
        return CONTROL_CLOSED;
    if (got == sizeof datagram && count <= CONTROL_FDS_MAX) {
        message->kind = datagram.kind;
        message->flags = datagram.flags;
        message->number = datagram.number;
        return CONTROL_OK;
    }
    control_message_close(message);
    errno = EPROTO;
    return CONTROL_ERROR;
}

void control_message_close(control_message *message) {
    for (size_t i = 0; i < message->count; i++)
        descriptors_close_foreign(message->fds[i]);
    message->count = 0;
}
