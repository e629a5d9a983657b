#include "descriptors.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* With less room the kernel would close what it has no place for itself, and could be made to wait
 * doing that. */
union room {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
};

ssize_t descriptors_send(int socket, const void *bytes, size_t length, const int *fds, size_t count,
                         int flags) {
    struct iovec part = {(void *)bytes, length};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    union room control;
    size_t size = count * sizeof *fds;
    if (count > DESCRIPTORS_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (count > 0) {
        memset(&control, 0, CMSG_SPACE(size));
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(size);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(size);
        memcpy(CMSG_DATA(rights), fds, size);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &header, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

void descriptors_close_foreign(int fd) {
    struct linger none = {0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(fd);
}

/* Takes those of a message; returns how many it had. */
static size_t take(struct msghdr *header, int *fds, size_t most) {
    size_t count = 0;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(header); h; h = CMSG_NXTHDR(header, h)) {
        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
            continue;
        size_t here = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < here; i++, count++) {
            int fd;
            memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof fd);
            if (count < most)
                fds[count] = fd;
            else
                descriptors_close_foreign(fd);
        }
    }
    return count;
}

ssize_t descriptors_receive(int socket, void *bytes, size_t length, int *fds, size_t most,
                            size_t *count, int flags) {
    struct iovec part = {bytes, length};
    union room control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t got;
    *count = 0;
    do
        got = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -1;
    *count = take(&header, fds, most);
    if (!(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return got;
    for (size_t i = 0; i < *count && i < most; i++) {
        descriptors_close_foreign(fds[i]);
        fds[i] = -1;
    }
    *count = 0;
    errno = EPROTO;
    return -1;
}
