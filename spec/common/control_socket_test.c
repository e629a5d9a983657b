/* control_socket_test.c - connections arrive whole, with their port, and nothing else gets through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control_socket.h"

static int ends[2];

static int open_pair(void **state) {
    (void)state;
    return control_socket_pair(ends);
}

static int close_pair(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return 0;
}

/* How many descriptors this process has open. */
static int open_count(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void connections_arrive_with_port_and_flags(void **state) {
    (void)state;
    int stream[2];
    char byte = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, stream), 0);
    assert_int_equal(control_socket_send(ends[0], &(control_connection){stream[1], 49999, 0, 0}),
                     CONTROL_OK);
    assert_int_equal(
        control_socket_send(ends[0], &(control_connection){stream[1], 1, CONTROL_FROM_ENGINE, 0}),
        CONTROL_OK);
    close(stream[1]);
    control_connection first, second;
    assert_int_equal(control_socket_receive(ends[1], &first), CONTROL_OK);
    assert_int_equal(control_socket_receive(ends[1], &second), CONTROL_OK);
    assert_int_equal(first.port, 49999);
    assert_int_equal(first.flags, 0);
    assert_int_equal(second.port, 1);
    assert_int_equal(second.flags, CONTROL_FROM_ENGINE);
    assert_true(fcntl(first.fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(write(stream[0], "x", 1), 1);
    assert_int_equal(read(first.fd, &byte, 1), 1);
    assert_int_equal(byte, 'x');
    close(stream[0]);
    close(first.fd);
    close(second.fd);
}

static void the_end_is_told(void **state) {
    (void)state;
    control_connection connection;
    close(ends[0]);
    ends[0] = -1;
    assert_int_equal(control_socket_receive(ends[1], &connection), CONTROL_CLOSED);
    assert_int_equal(control_socket_send(ends[1], &(control_connection){0, 1, 0, 0}),
                     CONTROL_CLOSED);
}

static void a_full_socket_says_again_and_loses_nothing(void **state) {
    (void)state;
    int sent = 0;
    control_result result;
    while ((result = control_socket_send(
                ends[0], &(control_connection){0, (uint16_t)sent, 0, 0})) == CONTROL_OK)
        sent++;
    assert_int_equal(result, CONTROL_AGAIN);
    assert_true(sent > 8);
    control_connection connection;
    for (int i = 0; i < sent; i++) {
        assert_int_equal(control_socket_receive(ends[1], &connection), CONTROL_OK);
        assert_int_equal(connection.port, i);
        close(connection.fd);
    }
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(control_socket_receive(ends[1], &connection), CONTROL_AGAIN);
}

/* Sends bytes with so many descriptors, as no honest engine does. */
static void send_raw(const void *bytes, size_t length, int count) {
    struct iovec part = {(void *)bytes, length};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(16 * sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memset(CMSG_DATA(header), 0, (size_t)count * sizeof(int)); /* descriptor 0, count times */
    }
    assert_int_equal(sendmsg(ends[0], &message, 0), length);
}

static void other_datagrams_are_refused_and_leave_no_descriptor(void **state) {
    (void)state;
    static const unsigned char good[4] = {'C', 0, 0, 0};
    static const struct {
        unsigned char bytes[8];
        size_t length;
        int count;
    } wrong[] = {
        {{'C', 0, 0, 0}, 4, 0},          {{'C', 0, 0, 0}, 4, 2}, {{'C', 0, 0, 0}, 4, 16},
        {{'X', 0, 0, 0}, 4, 1},          {{'C', 0, 0}, 3, 1},    {{'C', 0, 0, 0, 0}, 5, 1},
        {{'C', 0, 0, 0, 0, 0, 0}, 7, 0},
    };
    control_connection connection;
    int before = open_count();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        send_raw(wrong[i].bytes, wrong[i].length, wrong[i].count);
        errno = 0;
        assert_int_equal(control_socket_receive(ends[1], &connection), CONTROL_ERROR);
        assert_int_equal(errno, EPROTO);
        assert_int_equal(open_count(), before);
    }
    send_raw(good, sizeof good, 1);
    assert_int_equal(control_socket_receive(ends[1], &connection), CONTROL_OK);
    close(connection.fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(connections_arrive_with_port_and_flags, open_pair,
                                        close_pair),
        cmocka_unit_test_setup_teardown(the_end_is_told, open_pair, close_pair),
        cmocka_unit_test_setup_teardown(a_full_socket_says_again_and_loses_nothing, open_pair,
                                        close_pair),
        cmocka_unit_test_setup_teardown(other_datagrams_are_refused_and_leave_no_descriptor,
                                        open_pair, close_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
