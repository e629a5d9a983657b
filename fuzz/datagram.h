/*
 * datagram.h - for fuzz targets: datagrams with descriptors, and whether a descriptor stayed open.
 */
#ifndef STEPBOX_FUZZ_DATAGRAM_H
#define STEPBOX_FUZZ_DATAGRAM_H

#include "fuzz.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define FUZZ_DESCRIPTORS_MAX 16

/* The lowest descriptor that is free: another one when something was not closed. */
static inline int fuzz_free_descriptor(void) {
    int fd = dup(0);
    FUZZ_CHECK(fd >= 0);
    close(fd);
    return fd;
}

/* Sends the bytes with so many copies of the socket itself. False when nobody is there any more. */
static inline bool fuzz_send_datagram(int to, const void *bytes, size_t length,
                                      size_t descriptors) {
    struct iovec part = {(void *)bytes, length};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(FUZZ_DESCRIPTORS_MAX * sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    FUZZ_CHECK(descriptors <= FUZZ_DESCRIPTORS_MAX);
    if (descriptors) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
        for (size_t i = 0; i < descriptors; i++)
            memcpy(CMSG_DATA(header) + i * sizeof(int), &to, sizeof to);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

#endif
