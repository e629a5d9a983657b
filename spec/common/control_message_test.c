/* control_message_test.c - datagrams with descriptors: what is whole arrives, and of everything
 * else nothing stays open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "control_message.h"

static size_t open_descriptors(void) {
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* Sends bytes of our own making, with as many copies of a descriptor. */
static void send_raw(int to, const void *bytes, size_t length, int fd, size_t copies) {
    struct iovec part = {(void *)bytes, length};
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(253 * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (copies > 0) {
        header.msg_control = control.room;
        header.msg_controllen = CMSG_SPACE(copies * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(copies * sizeof(int));
        for (size_t i = 0; i < copies; i++)
            memcpy(CMSG_DATA(rights) + i * sizeof(int), &fd, sizeof fd);
    }
    assert_int_equal(sendmsg(to, &header, MSG_NOSIGNAL), (ssize_t)length);
}

static void carries_what_it_is_given(void **state) {
    (void)state;
    int ends[2], pipe_ends[2];
    assert_int_equal(control_socket_pair(ends), 0);
    assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
    for (size_t count = 0; count <= CONTROL_FDS_MAX; count++) {
        control_message sent = {.kind = 'k', .flags = 7, .number = 65535, .count = count}, got;
        for (size_t i = 0; i < count; i++)
            sent.fds[i] = pipe_ends[1];
        size_t before = open_descriptors();
        assert_int_equal(control_message_send(ends[1], &sent), CONTROL_OK);
        assert_int_equal(control_message_receive(ends[0], &got), CONTROL_OK);
        assert_int_equal(got.kind, 'k');
        assert_int_equal(got.flags, 7);
        assert_int_equal(got.number, 65535);
        assert_int_equal(got.count, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(fcntl(got.fds[i], F_GETFD), FD_CLOEXEC);
        assert_int_equal(open_descriptors(), before + count);
        control_message_close(&got);
        assert_int_equal(open_descriptors(), before);
    }
    control_message none;
    assert_int_equal(control_message_receive(ends[0], &none), CONTROL_AGAIN);
    close(ends[1]), close(pipe_ends[0]), close(pipe_ends[1]);
    assert_int_equal(control_message_receive(ends[0], &none), CONTROL_CLOSED);
    close(ends[0]);
}

static void keeps_nothing_of_what_is_none(void **state) {
    (void)state;
    static const char bytes[300] = {'k', 1, 2, 3};
    static const struct {
        size_t length, descriptors;
    } cases[] = {{1, 0}, {3, 1}, {5, 0}, {5, 2}, {300, 4}, {4, CONTROL_FDS_MAX + 1}, {4, 253}};
    int ends[2];
    assert_int_equal(control_socket_pair(ends), 0);
    size_t before = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        control_message got;
        send_raw(ends[1], bytes, cases[i].length, STDIN_FILENO, cases[i].descriptors);
        assert_int_equal(control_message_receive(ends[0], &got), CONTROL_ERROR);
        assert_int_equal(errno, EPROTO);
        assert_int_equal(open_descriptors(), before);
    }
    /* And the socket goes on. */
    control_message good = {.kind = 'k'}, got;
    assert_int_equal(control_message_send(ends[1], &good), CONTROL_OK);
    assert_int_equal(control_message_receive(ends[0], &got), CONTROL_OK);
    close(ends[0]), close(ends[1]);
}

/* A connection with unsent bytes whose last descriptor makes whoever closes it wait. */
static int make_lingering(int *listener, int *peer) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    struct linger linger = {1, 3};
    char bytes[65536] = {0};
    *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(*listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(*listener, 1), 0);
    assert_int_equal(getsockname(*listener, (struct sockaddr *)&address, &length), 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, length), 0);
    *peer = accept4(*listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(*peer >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        continue;
    return fd;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void does_not_wait_for_a_socket_that_lingers(void **state) {
    (void)state;
    int ends[2], listener, peer;
    assert_int_equal(control_socket_pair(ends), 0);
    /* The probe: who closes it without care waits. */
    int fd = make_lingering(&listener, &peer);
    double begin = seconds_now();
    close(fd);
    assert_true(seconds_now() - begin > 1.0);
    close(listener), close(peer);

    fd = make_lingering(&listener, &peer);
    send_raw(ends[1], "bad", 3, fd, 1);
    close(fd);
    control_message got;
    begin = seconds_now();
    assert_int_equal(control_message_receive(ends[0], &got), CONTROL_ERROR);
    assert_true(seconds_now() - begin < 1.0);
    close(listener), close(peer), close(ends[0]), close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carries_what_it_is_given),
        cmocka_unit_test(keeps_nothing_of_what_is_none),
        cmocka_unit_test(does_not_wait_for_a_socket_that_lingers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
