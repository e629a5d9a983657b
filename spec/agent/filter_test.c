/* filter_test.c - the agent puts itself under the program that it is given, and keeps nothing of
 * it; what is no program is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control_socket.h"
#include "filter.h"

/* Allows every call but getppid, for which there is a listener. */
static const struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static int file_of(const void *bytes, size_t size) {
    int fd = memfd_create("program", MFD_CLOEXEC);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    return fd;
}

static int open_count(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static int wait_for(pid_t child) {
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The agent's part, in a process of its own. Returns 0 when all is as it should be. */
static int install_in_child(int program_fd, int control_fd, bool before) {
    if (before) {
        struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        struct sock_fprog first = {1, &allow};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                    &first) < 0)
            return 9;
    }
    int count = open_count();
    if (filter_install(program_fd, control_fd) < 0)
        return 1;
    /* The file was closed, and the listener too. */
    if (open_count() != count - 1 || fcntl(program_fd, F_GETFD) >= 0)
        return 2;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
        return 3;
    /* Nobody answers. */
    return syscall(SYS_getppid) == -1 && errno == ENOSYS ? 0 : 4;
}

static void installs_the_program_and_sends_its_listener(void **state) {
    (void)state;
    int ends[2], fd = file_of(program, sizeof program);
    assert_int_equal(control_socket_pair(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(install_in_child(fd, ends[1], false));
    }
    close(fd);
    close(ends[1]);
    control_connection message;
    control_result result;
    while ((result = control_socket_receive(ends[0], &message)) == CONTROL_AGAIN)
        usleep(1000);
    if (result == CONTROL_CLOSED && wait_for(child) == 1) {
        print_message("skipped: this kernel, or what we run in, has no such filters\n");
        skip();
    }
    assert_int_equal(result, CONTROL_OK);
    assert_int_equal(message.word, CONTROL_LISTENER);
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", message.fd);
    assert_true(readlink(path, target, sizeof target - 1) > 0);
    assert_string_equal(target, "anon_inode:seccomp notify");
    close(message.fd);
    assert_int_equal(wait_for(child), 0);
    close(ends[0]);
}

static void does_without_a_listener_where_there_is_one_already(void **state) {
    (void)state;
    int ends[2], fd = file_of(program, sizeof program);
    assert_int_equal(control_socket_pair(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(install_in_child(fd, ends[1], true));
    }
    close(fd);
    close(ends[1]);
    int status = wait_for(child);
    if (status == 9) {
        print_message("skipped: this kernel, or what we run in, gives no listener\n");
        skip();
    }
    assert_int_equal(status, 0);
    control_connection message;
    assert_int_equal(control_socket_receive(ends[0], &message), CONTROL_CLOSED);
    close(ends[0]);
}

static void what_is_no_program_is_told(void **state) {
    (void)state;
    static const char zeros[(BPF_MAXINSNS + 1) * sizeof(struct sock_filter)];
    int ends[2];
    assert_int_equal(control_socket_pair(ends), 0);
    const struct {
        const void *bytes;
        size_t size;
    } files[] = {{zeros, 0}, {program, sizeof program - 1}, {zeros, sizeof zeros}, {zeros, 8}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int fd = file_of(files[i].bytes, files[i].size);
        int count = open_count();
        pid_t child = fork();
        if (child == 0)
            _exit(filter_install(fd, ends[1]) == -1 && errno == EINVAL &&
                          open_count() == count - 1 && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0
                      ? 0
                      : 1);
        assert_int_equal(wait_for(child), 0);
        close(fd);
    }
    assert_int_equal(filter_install(-1, ends[1]), -1);
    assert_int_equal(errno, EBADF);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(installs_the_program_and_sends_its_listener),
        cmocka_unit_test(does_without_a_listener_where_there_is_one_already),
        cmocka_unit_test(what_is_no_program_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
