#include "control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* What is on the wire; both ends are the same build on the same machine. */
struct datagram {
    uint8_t type;
    uint8_t flags;
    uint16_t port;
};

#define TYPE_CONNECTION 'C'

/* More than we ever send: a datagram with too many descriptors must be seen as such, not cut
 * silently. */
#define MAX_DESCRIPTORS 8

int control_socket_pair(int ends[2]) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    int flags = fcntl(ends[0], F_GETFL);
    if (flags >= 0 && fcntl(ends[0], F_SETFL, flags | O_NONBLOCK) == 0)
        return 0;
    int saved = errno;
    close(ends[0]);
    close(ends[1]);
    errno = saved;
    return -1;
}

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

control_result control_socket_send(int control_fd, const control_connection *connection) {
    struct datagram datagram = {connection->word ? connection->word : TYPE_CONNECTION,
                                connection->flags, connection->port};
    struct iovec part = {&datagram, sizeof datagram};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &connection->fd, sizeof(int));

    ssize_t sent;
    do
        sent = sendmsg(control_fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? failure() : CONTROL_OK;
}

/* Collects the descriptors of a message into fds. Returns how many. */
static size_t descriptors_of(struct msghdr *message, int fds[MAX_DESCRIPTORS]) {
    size_t count = 0;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(message); h; h = CMSG_NXTHDR(message, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
            continue;
        size_t here = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < here; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof fd);
            if (count < MAX_DESCRIPTORS)
                fds[count++] = fd;
            else
                close(fd);
        }
    }
    return count;
}

control_result control_socket_receive(int control_fd, control_connection *connection) {
    struct datagram datagram = {0};
    struct iovec part = {&datagram, sizeof datagram};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MAX_DESCRIPTORS * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t got;
    do
        got = recvmsg(control_fd, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return failure();

    int fds[MAX_DESCRIPTORS];
    size_t count = descriptors_of(&message, fds);
    if (got == 0 && count == 0)
        return CONTROL_CLOSED;
    bool whole = !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
    bool ours = datagram.type == TYPE_CONNECTION || datagram.type == CONTROL_LISTENER;
    if (got == sizeof datagram && whole && count == 1 && ours) {
        uint8_t word = datagram.type == TYPE_CONNECTION ? 0 : datagram.type;
        *connection = (control_connection){fds[0], datagram.port, datagram.flags, word};
        return CONTROL_OK;
    }
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    errno = EPROTO;
    return CONTROL_ERROR;
}
