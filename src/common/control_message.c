#include "control_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* What is on the wire; both ends are the same build on the same machine. */
struct datagram {
    uint8_t kind;
    uint8_t flags;
    uint16_t number;
};

/* As many as the kernel lets one datagram carry. With less room it would close the rest itself, and
 * could be made to wait doing that. */
#define DESCRIPTORS_MAX 253

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
    struct iovec part = {&datagram, sizeof datagram};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(CONTROL_FDS_MAX * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (message->count > 0) {
        size_t size = message->count * sizeof(int);
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(rights), message->fds, size);
    }
    ssize_t sent;
    do
        sent = sendmsg(control_fd, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? failure() : CONTROL_OK;
}

/* Closes what a stranger sent: a socket that lingers must not make us wait. */
static void close_foreign(int fd) {
    struct linger none = {0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(fd);
}

/* Takes the descriptors of a message. Returns how many; more than there is room for are closed, but
 * counted. */
static size_t descriptors_of(struct msghdr *header, int fds[CONTROL_FDS_MAX]) {
    size_t count = 0;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(header); h; h = CMSG_NXTHDR(header, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
            continue;
        size_t here = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < here; i++, count++) {
            int fd;
            memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof fd);
            if (count < CONTROL_FDS_MAX)
                fds[count] = fd;
            else
                close_foreign(fd);
        }
    }
    return count;
}

control_result control_message_receive(int control_fd, control_message *message) {
    struct datagram datagram = {0};
    struct iovec part = {&datagram, sizeof datagram};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    } control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    *message = (control_message){0};
    ssize_t got;
    do
        got = recvmsg(control_fd, &header, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return failure();

    size_t count = descriptors_of(&header, message->fds);
    message->count = count < CONTROL_FDS_MAX ? count : CONTROL_FDS_MAX;
    if (got == 0 && count == 0)
        return CONTROL_CLOSED;
    if (got == sizeof datagram && !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
        count <= CONTROL_FDS_MAX) {
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
        close_foreign(message->fds[i]);
    message->count = 0;
}
