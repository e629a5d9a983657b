/* What is sent with descriptors arrives with them, and none that is not taken stays open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptors.h"

static size_t count_open(void) {
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static int set_up(void **state) {
    static int ends[2];
    *state = ends;
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int tear_down(void **state) {
    int *ends = *state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static void arrive_in_their_order(void **state) {
    int *ends = *state, pipes[2], fds[3] = {-1, -1, -1};
    size_t count, before = count_open();
    char bytes[8] = "";
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(descriptors_send(ends[0], "abc", 3, pipes, 2, 0), 3);
    assert_int_equal(descriptors_receive(ends[1], bytes, sizeof bytes, fds, 3, &count, 0), 3);
    assert_string_equal(bytes, "abc");
    assert_int_equal(count, 2);
    assert_int_equal(fds[2], -1);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(read(pipes[0], bytes, sizeof bytes), 1);
    close(fds[0]), close(fds[1]), close(pipes[0]), close(pipes[1]);
    assert_int_equal(count_open(), before);
}

static void are_closed_when_there_is_no_room(void **state) {
    int *ends = *state, same[DESCRIPTORS_MAX], fds[1] = {-1};
    size_t count, before = count_open();
    char byte;
    for (size_t i = 0; i < DESCRIPTORS_MAX; i++)
        same[i] = ends[0];
    assert_int_equal(descriptors_send(ends[0], "a", 1, same, DESCRIPTORS_MAX, 0), 1);
    assert_int_equal(descriptors_receive(ends[1], &byte, 1, fds, 1, &count, 0), 1);
    assert_int_equal(count, DESCRIPTORS_MAX);
    assert_true(fds[0] >= 0);
    close(fds[0]);
    assert_int_equal(count_open(), before);
    assert_int_equal(descriptors_send(ends[0], "a", 1, same, DESCRIPTORS_MAX + 1, 0), -1);
    assert_int_equal(errno, EINVAL);
}

static void are_closed_with_a_datagram_that_is_too_long(void **state) {
    int *ends = *state, fds[1] = {-1};
    size_t count, before = count_open();
    char byte;
    assert_int_equal(descriptors_send(ends[0], "ab", 2, ends, 1, 0), 2);
    assert_int_equal(descriptors_receive(ends[1], &byte, 1, fds, 1, &count, 0), -1);
    assert_int_equal(errno, EPROTO);
    assert_int_equal(fds[0], -1);
    assert_int_equal(count, 0);
    assert_int_equal(count_open(), before);
}

static void need_not_be_there(void **state) {
    int *ends = *state;
    size_t count;
    char byte;
    assert_int_equal(descriptors_receive(ends[1], &byte, 1, NULL, 0, &count, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(descriptors_send(ends[0], "a", 1, NULL, 0, 0), 1);
    assert_int_equal(descriptors_receive(ends[1], &byte, 1, NULL, 0, &count, 0), 1);
    assert_int_equal(count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arrive_in_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(are_closed_when_there_is_no_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(are_closed_with_a_datagram_that_is_too_long, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(need_not_be_there, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
