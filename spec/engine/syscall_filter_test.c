/* syscall_filter_test.c - the program says of each call what the tables say, on each architecture.
 * What the kernel makes of it is in syscall_probes_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "bpf.h"
#include "syscall_filter.h"
#include "syscall_rules.h"

#define ALLOW SECCOMP_RET_ALLOW
#define NOTIFY SECCOMP_RET_USER_NOTIF
#define ERROR(number) (SECCOMP_RET_ERRNO | (number))
#define GARBAGE 0xdead00000000

static const uint32_t architectures[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64};
#define ARCHITECTURES (sizeof architectures / sizeof *architectures)

static struct syscall_filter *counted[ARCHITECTURES], *plain[ARCHITECTURES];
static struct bpf counted_program[ARCHITECTURES], plain_program[ARCHITECTURES];

static int make_filters(void **state) {
    (void)state;
    char message[256] = "";
    for (size_t i = 0; i < ARCHITECTURES; i++) {
        counted[i] = syscall_filter_for(architectures[i], true, message, sizeof message);
        plain[i] = syscall_filter_for(architectures[i], false, message, sizeof message);
        if (!counted[i] || !plain[i])
            fail_msg("%s", message);
        bpf_read(&counted_program[i], syscall_filter_fd(counted[i]));
        bpf_read(&plain_program[i], syscall_filter_fd(plain[i]));
    }
    return 0;
}

static int free_filters(void **state) {
    (void)state;
    for (size_t i = 0; i < ARCHITECTURES; i++) {
        syscall_filter_free(counted[i]);
        syscall_filter_free(plain[i]);
    }
    return 0;
}

/* The call's number; below 0 when the architecture does not have it. Every name must be known. */
static int number_of(size_t architecture, const char *name) {
    for (const struct syscall_number *newer = syscalls_newer; newer->name; newer++)
        if (strcmp(newer->name, name) == 0)
            return newer->number;
    int number = seccomp_syscall_resolve_name_arch(architectures[architecture], name);
    if (number == __NR_SCMP_ERROR)
        fail_msg("there is no call of the name %s", name);
    return number;
}

static uint32_t run(const struct bpf *bpf, size_t architecture, int number, const uint64_t *args) {
    struct seccomp_data call = {.nr = number, .arch = architectures[architecture]};
    if (args)
        memcpy(call.args, args, sizeof call.args);
    return bpf_run(bpf, &call);
}

/* What the counted program says of a call with these arguments. */
static uint32_t verdict(size_t architecture, const char *name, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t args[6] = {a, b, c};
    return run(&counted_program[architecture], architecture, number_of(architecture, name), args);
}

static void each_call_is_allowed_or_refused_as_its_list_says(void **state) {
    (void)state;
    size_t tried = 0;
    for (size_t i = 0; i < ARCHITECTURES; i++) {
        for (const char *const *name = syscalls_allowed; *name; name++) {
            int number = number_of(i, *name);
            if (number < 0)
                continue;
            tried++;
            assert_int_equal(run(&counted_program[i], i, number, NULL), ALLOW);
            assert_int_equal(run(&plain_program[i], i, number, NULL), ALLOW);
        }
        for (const struct syscall_quiet *quiet = syscalls_quiet; quiet->name; quiet++) {
            int number = number_of(i, quiet->name);
            if (number < 0)
                continue;
            assert_int_equal(run(&counted_program[i], i, number, NULL), ERROR(quiet->error));
            assert_int_equal(run(&plain_program[i], i, number, NULL), ERROR(quiet->error));
        }
        for (const char *const *name = syscalls_refused; *name; name++) {
            struct seccomp_data call = {.nr = number_of(i, *name), .arch = architectures[i]};
            if (call.nr < 0)
                continue;
            tried++;
            assert_int_equal(bpf_run(&counted_program[i], &call), NOTIFY);
            assert_int_equal(bpf_run(&plain_program[i], &call), ERROR(EPERM));
            assert_int_equal(syscall_filter_error(counted[i], &call), EPERM);
            assert_string_equal(
                syscall_filter_kind_name(counted[i], syscall_filter_kind(counted[i], &call)),
                *name);
        }
    }
    assert_true(tried > 500);
}

static void what_is_in_no_list_is_not_there(void **state) {
    (void)state;
    static const int numbers[] = {180, 183, 212, 333 + 60, 470, 499, 511};
    for (size_t i = 0; i < ARCHITECTURES; i++)
        for (size_t n = architectures[i] == AUDIT_ARCH_X86_64 ? 0 : 3;
             n < sizeof numbers / sizeof *numbers; n++) {
            struct seccomp_data call = {.nr = numbers[n], .arch = architectures[i]};
            assert_int_equal(bpf_run(&counted_program[i], &call), NOTIFY);
            assert_int_equal(bpf_run(&plain_program[i], &call), ERROR(ENOSYS));
            assert_int_equal(syscall_filter_error(counted[i], &call), ENOSYS);
        }
    struct seccomp_data none = {.nr = -1, .arch = architectures[0]};
    assert_int_equal(bpf_run(&counted_program[0], &none), NOTIFY);
    assert_int_equal(syscall_filter_error(counted[0], &none), ENOSYS);
    assert_string_equal(
        syscall_filter_kind_name(counted[0], syscall_filter_kind(counted[0], &none)), "other");
}

static void no_call_enters_by_another_architecture(void **state) {
    (void)state;
    static const uint32_t others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_X86_64,
                                      AUDIT_ARCH_AARCH64, 0};
    for (size_t i = 0; i < ARCHITECTURES; i++)
        for (size_t other = 0; other < sizeof others / sizeof *others; other++)
            for (int number = -1; number < 1024; number++) {
                bool x32 = others[other] == architectures[i];
                if (x32 && (number < 0 || others[other] != AUDIT_ARCH_X86_64))
                    continue;
                struct seccomp_data call = {.nr = x32 ? number | 0x40000000 : number,
                                            .arch = others[other]};
                assert_int_equal(bpf_run(&counted_program[i], &call), NOTIFY);
                assert_int_equal(bpf_run(&plain_program[i], &call), ERROR(ENOSYS));
                assert_int_equal(syscall_filter_error(counted[i], &call), ENOSYS);
                assert_string_equal(
                    syscall_filter_kind_name(counted[i], syscall_filter_kind(counted[i], &call)),
                    "other_architecture");
            }
}

static void no_clone_makes_a_namespace(void **state) {
    (void)state;
    static const uint64_t namespaces[] = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
                                          CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
                                          CLONE_NEWNET};
    static const uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                   CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                   CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    for (size_t i = 0; i < ARCHITECTURES; i++) {
        assert_int_equal(verdict(i, "clone", 17 /* SIGCHLD */, 0, 0), ALLOW);
        assert_int_equal(verdict(i, "clone", thread, 0, 0), ALLOW);
        assert_int_equal(verdict(i, "clone", GARBAGE | CLONE_VFORK | CLONE_VM | 17, 0, 0), ALLOW);
        for (size_t n = 0; n < sizeof namespaces / sizeof *namespaces; n++) {
            assert_int_equal(verdict(i, "clone", namespaces[n], 0, 0), NOTIFY);
            assert_int_equal(verdict(i, "clone", GARBAGE | namespaces[n] | thread, 0, 0), NOTIFY);
        }
    }
}

static void ioctls_are_told_apart_by_the_bits_that_the_kernel_looks_at(void **state) {
    (void)state;
    static const uint32_t harmful[] = {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS,
                                       SECCOMP_IOCTL_NOTIF_SEND};
    for (size_t i = 0; i < ARCHITECTURES; i++) {
        assert_int_equal(verdict(i, "ioctl", 0, TCGETS, 0), ALLOW);
        assert_int_equal(verdict(i, "ioctl", 0, GARBAGE | FIONBIO, 0), ALLOW);
        assert_int_equal(verdict(i, "ioctl", 0, 0x5490, 0), NOTIFY);
        for (size_t n = 0; n < sizeof harmful / sizeof *harmful; n++) {
            assert_int_equal(verdict(i, "ioctl", 0, harmful[n], 0), NOTIFY);
            assert_int_equal(verdict(i, "ioctl", 0, GARBAGE | harmful[n], 0), NOTIFY);
            struct seccomp_data call = {.nr = number_of(i, "ioctl"),
                                        .arch = architectures[i],
                                        .args = {0, GARBAGE | harmful[n]}};
            assert_int_equal(syscall_filter_error(counted[i], &call), EPERM);
            call.args[1] = 0x5490;
            assert_int_equal(syscall_filter_error(counted[i], &call), ENOTTY);
        }
    }
}

/* What a socket of this kind should get. */
static uint32_t expected_socket(uint32_t family, uint32_t type, uint32_t protocol) {
    bool inet = family == AF_INET || family == AF_INET6;
    if (family == AF_UNIX)
        return ALLOW;
    if (family == AF_NETLINK && protocol == 9 /* NETLINK_AUDIT */)
        return ERROR(EPROTONOSUPPORT);
    if (family == AF_NETLINK)
        return protocol == 0 && (type == SOCK_RAW || type == SOCK_DGRAM) ? ALLOW : NOTIFY;
    if (inet && type == SOCK_STREAM && protocol == 262)
        return ERROR(EPROTONOSUPPORT);
    if (inet && type == SOCK_STREAM)
        return protocol == 0 || protocol == 6 ? ALLOW : NOTIFY;
    if (inet && type == SOCK_DGRAM)
        return protocol == 0 || protocol == 17 ? ALLOW : NOTIFY;
    return NOTIFY;
}

static void sockets_are_of_the_families_that_reach_the_sandbox_alone(void **state) {
    (void)state;
    static const uint64_t above[] = {0, GARBAGE};
    static const uint32_t flags[] = {0, SOCK_CLOEXEC | SOCK_NONBLOCK};
    for (size_t i = 0; i < ARCHITECTURES; i++)
        for (uint32_t family = 0; family < 64; family++)
            for (uint32_t type = 0; type < 16; type++)
                for (uint32_t protocol = 0; protocol < 300; protocol++) {
                    size_t odd = protocol % 2;
                    uint32_t got = verdict(i, "socket", family | above[odd],
                                           type | flags[odd] | above[odd], protocol | above[odd]);
                    if (got != expected_socket(family, type, protocol))
                        fail_msg("socket(%u, %u, %u) gives %x", family, type, protocol, got);
                }
    assert_int_equal(verdict(0, "socketpair", AF_UNIX, SOCK_SEQPACKET, 0), ALLOW);
    assert_int_equal(verdict(0, "socketpair", AF_TIPC, SOCK_SEQPACKET, 0), NOTIFY);
}

static void the_rest_is_decided_by_its_arguments(void **state) {
    (void)state;
    for (size_t i = 0; i < ARCHITECTURES; i++) {
        assert_int_equal(verdict(i, "personality", 0, 0, 0), ALLOW);
        assert_int_equal(verdict(i, "personality", 0xffffffff, 0, 0), ALLOW);
        assert_int_equal(verdict(i, "personality", GARBAGE | 0x40000, 0, 0), NOTIFY);
        assert_int_equal(verdict(i, "mknodat", 0, 0, S_IFIFO | 0600), ALLOW);
        assert_int_equal(verdict(i, "mknodat", 0, 0, S_IFCHR | 0600), NOTIFY);
        assert_int_equal(verdict(i, "mknodat", 0, 0, S_IFBLK | 0600), NOTIFY);
        assert_int_equal(verdict(i, "prctl", 15 /* PR_SET_NAME */, 0, 0), ALLOW);
        assert_int_equal(verdict(i, "prctl", 35 /* PR_SET_MM */, 0, 0), NOTIFY);
        assert_int_equal(verdict(i, "prctl", 0x59616d61, 0, 0), ERROR(EINVAL));
        for (uint64_t option = 0; option < 100; option++) {
            bool refused = option == SO_LINGER || option == SO_ATTACH_FILTER ||
                           option == SO_ATTACH_BPF || option == SO_ATTACH_REUSEPORT_CBPF ||
                           option == SO_ATTACH_REUSEPORT_EBPF;
            assert_int_equal(verdict(i, "setsockopt", 3, GARBAGE | SOL_SOCKET, GARBAGE | option),
                             refused ? ERROR(ENOPROTOOPT) : ALLOW);
            assert_int_equal(verdict(i, "setsockopt", 3, 6 /* SOL_TCP */, option), ALLOW);
        }
        assert_int_equal(verdict(i, "seccomp", 1, 0, 0), ALLOW);
        assert_int_equal(verdict(i, "seccomp", 1, SECCOMP_FILTER_FLAG_TSYNC, 0), ALLOW);
        assert_int_equal(verdict(i, "seccomp", 1, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0), NOTIFY);
        assert_int_equal(verdict(i, "seccomp", GARBAGE | 1,
                                 SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC, 0),
                         NOTIFY);
    }
    assert_int_equal(verdict(0, "mknod", 0, S_IFCHR | 0600, 0), NOTIFY);
    assert_int_equal(verdict(0, "mknod", 0, S_IFSOCK | 0600, 0), ALLOW);
}

/* What the counted program says of a call with this argument and no other. */
static uint32_t verdict_of(size_t architecture, const char *name, unsigned index, uint64_t value) {
    uint64_t args[6] = {0};
    args[index] = value;
    return run(&counted_program[architecture], architecture, number_of(architecture, name), args);
}

/* In the flags of all three. */
#define HUGE_PAGE_OF_2MB (21u << 26)

static void memory_is_the_sandboxs_own(void **state) {
    (void)state;
    static const struct {
        const char *call;
        unsigned index;
        uint64_t flag, others;
    } calls[] = {
        {"mmap", 3, MAP_HUGETLB, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE},
        {"memfd_create", 1, MFD_HUGETLB, MFD_CLOEXEC | MFD_ALLOW_SEALING},
        {"shmget", 2, SHM_HUGETLB, IPC_CREAT | 0600},
    };
    for (size_t i = 0; i < ARCHITECTURES; i++) {
        for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
            uint64_t all = GARBAGE | calls[n].flag | calls[n].others | HUGE_PAGE_OF_2MB;
            assert_int_equal(verdict_of(i, calls[n].call, calls[n].index, calls[n].others), ALLOW);
            assert_int_equal(verdict_of(i, calls[n].call, calls[n].index, calls[n].flag),
                             ERROR(ENOMEM));
            assert_int_equal(verdict_of(i, calls[n].call, calls[n].index, all), ERROR(ENOMEM));
        }
        for (uint64_t advice = 0; advice < 30; advice++) {
            assert_int_equal(verdict_of(i, "fadvise64", 3, GARBAGE | advice),
                             advice == POSIX_FADV_DONTNEED ? ERROR(0) : ALLOW);
            assert_int_equal(verdict_of(i, "madvise", 2, GARBAGE | advice),
                             advice == MADV_PAGEOUT ? ERROR(0) : ALLOW);
        }
    }
}

static void nobody_can_change_the_program(void **state) {
    (void)state;
    int fd = syscall_filter_fd(counted[0]);
    assert_int_equal(pwrite(fd, "", 1, 0), -1);
    assert_int_equal(errno, EPERM);
    assert_int_equal(ftruncate(fd, 0), -1);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void another_architecture_is_told(void **state) {
    (void)state;
    char message[256];
    assert_null(syscall_filter_for(AUDIT_ARCH_RISCV64, true, message, sizeof message));
    assert_non_null(strstr(message, "x86-64 and arm64"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_is_allowed_or_refused_as_its_list_says),
        cmocka_unit_test(what_is_in_no_list_is_not_there),
        cmocka_unit_test(no_call_enters_by_another_architecture),
        cmocka_unit_test(no_clone_makes_a_namespace),
        cmocka_unit_test(ioctls_are_told_apart_by_the_bits_that_the_kernel_looks_at),
        cmocka_unit_test(sockets_are_of_the_families_that_reach_the_sandbox_alone),
        cmocka_unit_test(the_rest_is_decided_by_its_arguments),
        cmocka_unit_test(memory_is_the_sandboxs_own),
        cmocka_unit_test(nobody_can_change_the_program),
        cmocka_unit_test(another_architecture_is_told),
    };
    return cmocka_run_group_tests(tests, make_filters, free_filters);
}
