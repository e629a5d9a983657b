/* Datagrams on the socket between engine and agent: one of ours is taken, any other refused, and no
 * descriptor stays behind. */
#include "control_socket.h"

#include "../fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 12

/* The lowest descriptor that is free: another one when something stayed open. */
static int free_descriptor(void) {
    int fd = dup(0);
    FUZZ_CHECK(fd >= 0);
    close(fd);
    return fd;
}

static void send_datagram(int to, const struct fuzz_input *input, size_t descriptors) {
    struct iovec part = {(void *)input->bytes, input->length};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MOST * sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
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
    FUZZ_CHECK(sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)input->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    size_t descriptors = fuzz_byte(&input) % (MOST + 1);
    int ends[2], before;
    control_connection connection;
    FUZZ_CHECK(control_socket_pair(ends) == 0);
    before = free_descriptor();
    send_datagram(ends[1], &input, descriptors);
    control_result result = control_socket_receive(ends[0], &connection);
    if (result == CONTROL_OK) {
        FUZZ_CHECK(descriptors == 1 && input.length == 4 && *input.bytes == 'C');
        FUZZ_CHECK(fcntl(connection.fd, F_GETFD) & FD_CLOEXEC);
        close(connection.fd);
    } else if (input.length == 0 && descriptors == 0) {
        FUZZ_CHECK(result == CONTROL_CLOSED);
    } else {
        FUZZ_CHECK(result == CONTROL_ERROR && errno == EPROTO);
        FUZZ_CHECK(control_socket_receive(ends[0], &connection) == CONTROL_AGAIN);
    }
    FUZZ_CHECK(free_descriptor() == before);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
