/* confinement_test.c - what a confined process can still do, and what it cannot, though it could
 * before. Each probe runs in a process of its own, once as it is and once confined. */
#include "confinement.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NOT_CONFINED 98

typedef int probe(void); /* 0, or -1 with errno */

static int start_process(void) {
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return pid < 0 ? -1 : 0;
}

static int execute(void) {
    execl("/usr/bin/true", "true", (char *)NULL);
    return -1;
}

static int signal_parent(void) {
    return kill(getppid(), 0);
}

static int open_parent(void) {
    return syscall(SYS_pidfd_open, getppid(), 0) < 0 ? -1 : 0;
}

static int write_file(void) {
    return open("/dev/null", O_WRONLY) < 0 ? -1 : 0;
}

static int read_home(void) {
    return open("/tmp", O_RDONLY | O_DIRECTORY) < 0 ? -1 : 0;
}

static int read_processes(void) {
    return open("/proc/self/status", O_RDONLY) < 0 ? -1 : 0;
}

static int make_file(void) {
    return syscall(SYS_memfd_create, "x", 0) < 0 ? -1 : 0;
}

static int stream_to_host(void) {
    return socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? -1 : 0;
}

static int other_protocol(void) {
    return socket(AF_NETLINK, SOCK_RAW, 2 /* NETLINK_USERSOCK */) < 0 ? -1 : 0;
}

static int serve_host(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? -1 : listen(fd, 1);
}

static int write_code(void) {
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? -1 : mprotect(at, 4096, PROT_READ | PROT_EXEC);
}

static int map_code(void) {
    void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? -1 : 0;
}

static int user_namespace(void) {
    return unshare(CLONE_NEWUSER);
}

static int be_traced(void) {
    return prctl(PR_SET_DUMPABLE, 1);
}

static void *set_flag(void *user) {
    *(int *)user = 1;
    return NULL;
}

static int thread(void) {
    pthread_t other;
    int flag = 0;
    return pthread_create(&other, NULL, set_flag, &flag) == 0 && pthread_join(other, NULL) == 0 &&
                   flag
               ? 0
               : -1;
}

static int resolve(void) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    return getaddrinfo("localhost", "80", &hints, &list) == 0 && list ? 0 : -1;
}

static int list_addresses(void) {
    struct ifaddrs *list = NULL;
    return getifaddrs(&list) == 0 && list ? 0 : -1;
}

static int number_link(void) {
    return if_nametoindex("lo") > 0 ? 0 : -1;
}

static int read_configuration(void) {
    return open("/etc/passwd", O_RDONLY) < 0 ? -1 : 0;
}

static int load_code(void) {
    int fd = open("/usr/bin/true", O_RDONLY);
    void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    return at == MAP_FAILED ? -1 : 0;
}

/* As libc does with what nsswitch.conf names. */
static int load_library(void) {
    return dlopen("libnss_compat.so.2", RTLD_NOW) ? 0 : -1;
}

/* Its errno, or 0; or NOT_CONFINED. */
static int run(probe *work, bool confined) {
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        char message[256];
        if (confined && confine(parent, message, sizeof message) < 0) {
            fprintf(stderr, "%s\n", message);
            _exit(NOT_CONFINED);
        }
        _exit(work() == 0 ? 0 : errno ? errno : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Versions of the formatter do not agree on it. */
// clang-format off
#define NAMED(name) {#name, name}
// clang-format on
static const struct named {
    const char *name;
    probe *probe;
} taken[] = {NAMED(start_process),  NAMED(execute),        NAMED(signal_parent),
             NAMED(open_parent),    NAMED(write_file),     NAMED(read_home),
             NAMED(read_processes), NAMED(make_file),      NAMED(stream_to_host),
             NAMED(other_protocol), NAMED(serve_host),     NAMED(write_code),
             NAMED(map_code),       NAMED(user_namespace), NAMED(be_traced)},
  left[] = {NAMED(thread),
            NAMED(resolve),
            NAMED(list_addresses),
            NAMED(number_link),
            NAMED(read_configuration),
            NAMED(load_code),
            NAMED(load_library)};

static void skip_without_namespaces(void) {
    if (run(user_namespace, false) == 0)
        return;
    print_message("this host gives this user no user namespaces\n");
    skip();
}

static void what_is_not_needed_is_taken(void **state) {
    (void)state;
    skip_without_namespaces();
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        print_message("%s\n", taken[i].name);
        assert_int_equal(run(taken[i].probe, false), 0);
        int error = run(taken[i].probe, true);
        assert_true(error == ENOSYS || error == ENOENT);
    }
}

static void what_names_and_connections_need_is_left(void **state) {
    (void)state;
    skip_without_namespaces();
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        print_message("%s\n", left[i].name);
        assert_int_equal(run(left[i].probe, false), 0);
        assert_int_equal(run(left[i].probe, true), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_needed_is_taken),
        cmocka_unit_test(what_names_and_connections_need_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
