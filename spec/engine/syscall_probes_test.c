/* syscall_probes_test.c - what the kernel answers to calls under the filter, and without it: each
 * probe does something outside, or fails for another reason. */
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
#include <linux/bpf.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "filtered.h"

#if defined __x86_64__
#define HERE AUDIT_ARCH_X86_64
#else
#define HERE AUDIT_ARCH_AARCH64
#endif
/* An address where nothing is. */
#define NOWHERE 1L

struct probe {
    const char *what;
    long number;
    long arguments[6];
    int inside; /* the error under the filter */
};

/* Without the filter these work, or complain about their arguments. */
static const struct probe probes[] = {
    {"ptrace", SYS_ptrace, {PTRACE_TRACEME}, EPERM},
    {"process_vm_readv", SYS_process_vm_readv, {0, 0, 0, 0, 0, 1}, EPERM},
    {"process_vm_writev", SYS_process_vm_writev, {0, 0, 0, 0, 0, 1}, EPERM},
    {"process_madvise", 440, {-1, 0, 0, 0, 1}, EPERM},
    {"pidfd_getfd", 438, {-1, 0, 0}, EPERM},
    {"kcmp", SYS_kcmp, {0, 0, 99}, EPERM},
    {"move_pages", SYS_move_pages, {0, 1, NOWHERE, NOWHERE, NOWHERE, 0}, EPERM},
    {"migrate_pages", SYS_migrate_pages, {0, 8, NOWHERE, NOWHERE}, EPERM},
    {"unshare", SYS_unshare, {0}, EPERM},
    {"unshare user", SYS_unshare, {CLONE_NEWUSER}, EPERM},
    {"setns", SYS_setns, {-1, 0}, EPERM},
    {"mount", SYS_mount, {NOWHERE, NOWHERE, NOWHERE, 0, 0}, EPERM},
    {"umount2", SYS_umount2, {NOWHERE, ~0L}, EPERM},
    {"pivot_root", SYS_pivot_root, {NOWHERE, NOWHERE}, EPERM},
    {"open_tree", 428, {-1, NOWHERE, ~0L}, EPERM},
    {"move_mount", 429, {-1, NOWHERE, -1, NOWHERE, ~0L}, EPERM},
    {"fsopen", 430, {NOWHERE, 0}, EPERM},
    {"fsconfig", 431, {-1, 0, 0, 0, 0}, EPERM},
    {"fsmount", 432, {-1, 0, 0}, EPERM},
    {"fspick", 433, {-1, NOWHERE, 0}, EPERM},
    {"mount_setattr", 442, {-1, NOWHERE, 0, NOWHERE, 0}, EPERM},
    {"swapon", SYS_swapon, {NOWHERE, 0}, EPERM},
    {"quotactl", SYS_quotactl, {0, 0, 0, 0}, EPERM},
    {"name_to_handle_at", SYS_name_to_handle_at, {-1, NOWHERE, NOWHERE, NOWHERE, 0}, EPERM},
    {"open_by_handle_at", SYS_open_by_handle_at, {-1, NOWHERE, 0}, EPERM},
    {"fanotify_init", SYS_fanotify_init, {~0L, 0}, EPERM},
    {"fanotify_mark", SYS_fanotify_mark, {-1, 0, 0, 0, 0}, EPERM},
    {"bpf", SYS_bpf, {-1, 0, 0}, EPERM},
    {"perf_event_open", SYS_perf_event_open, {NOWHERE, 0, 0, 0, 0}, EPERM},
    {"init_module", SYS_init_module, {NOWHERE, 1, NOWHERE}, EPERM},
    {"finit_module", SYS_finit_module, {-1, NOWHERE, 0}, EPERM},
    {"delete_module", SYS_delete_module, {NOWHERE, 0}, EPERM},
    {"kexec_load", SYS_kexec_load, {0, 99, NOWHERE, ~0L}, EPERM},
    {"reboot", SYS_reboot, {0, 0, 0, 0}, EPERM},
    {"syslog", SYS_syslog, {10 /* the size of its buffer */, 0, 0}, EPERM},
    {"acct", SYS_acct, {NOWHERE}, EPERM},
    {"userfaultfd", SYS_userfaultfd, {~0L}, EPERM},
    {"io_uring_setup", 425, {0, NOWHERE}, EPERM},
    {"io_uring_enter", 426, {-1, 0, 0, 0, 0, 0}, EPERM},
    {"io_uring_register", 427, {-1, 0, 0, 0}, EPERM},
    {"add_key", SYS_add_key, {NOWHERE, NOWHERE, 0, 0, 0}, EPERM},
    {"request_key", SYS_request_key, {NOWHERE, NOWHERE, 0, 0}, EPERM},
    {"keyctl", SYS_keyctl, {0, -3, 0}, EPERM},
    {"vmsplice", SYS_vmsplice, {-1, 0, 0, 0}, EPERM},
    {"memfd_secret", 447, {~0L}, EPERM},
    {"io_setup", SYS_io_setup, {1, NOWHERE}, EPERM},
    {"settimeofday", SYS_settimeofday, {NOWHERE, 0}, EPERM},
    {"clock_settime", SYS_clock_settime, {0, NOWHERE}, EPERM},
    {"clock_adjtime", SYS_clock_adjtime, {0, NOWHERE}, EPERM},
    {"adjtimex", SYS_adjtimex, {NOWHERE}, EPERM},
    {"sethostname", SYS_sethostname, {NOWHERE, 1}, EPERM},
    {"setdomainname", SYS_setdomainname, {NOWHERE, 1}, EPERM},
#if defined __x86_64__
    {"iopl", SYS_iopl, {0}, EPERM},
    {"ioperm", SYS_ioperm, {0, 1, 0}, EPERM},
    {"modify_ldt", SYS_modify_ldt, {0, NOWHERE, 0}, EPERM},
    {"clone NEWUSER", SYS_clone, {CLONE_NEWUSER | CLONE_FS}, EPERM},
#endif
    {"clone3", 435, {NOWHERE, 0}, ENOSYS},
    {"personality", SYS_personality, {ADDR_NO_RANDOMIZE}, EPERM},
    {"prctl SET_MM", SYS_prctl, {PR_SET_MM, 15 /* the size of its map */, NOWHERE}, EPERM},
    {"mknodat", SYS_mknodat, {-1, NOWHERE, S_IFCHR | 0600, 0x103}, EPERM},
    {"seccomp listener", SYS_seccomp, {1, SECCOMP_FILTER_FLAG_NEW_LISTENER, NOWHERE}, EPERM},
    {"ioctl TIOCSTI", SYS_ioctl, {-1, TIOCSTI, 0}, EPERM},
    {"ioctl TIOCSTI with more bits", SYS_ioctl, {-1, 0x100000000 | TIOCSTI, 0}, EPERM},
    {"ioctl TIOCLINUX", SYS_ioctl, {-1, 0x7f00000000 | TIOCLINUX, 0}, EPERM},
    {"packet socket", SYS_socket, {AF_PACKET, SOCK_DGRAM, 0}, EPERM},
    {"raw socket", SYS_socket, {AF_INET, SOCK_RAW, 255}, EPERM},
    {"icmp socket", SYS_socket, {AF_INET, SOCK_DGRAM, 1}, EPERM},
    {"vsock", SYS_socket, {AF_VSOCK, 99, 0}, EPERM},
    {"AF_ALG", SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}, EPERM},
    {"netlink generic", SYS_socket, {AF_NETLINK, SOCK_RAW, 16}, EPERM},
    {"netlink with more bits", SYS_socket, {0x100000000 | AF_NETLINK, SOCK_RAW, 16}, EPERM},
};
#define PROBES (sizeof probes / sizeof *probes)

static int try_probe(void *argument) {
    const struct probe *probe = argument;
    const long *a = probe->arguments;
    pid_t self = getpid();
    if (syscall(probe->number, a[0], a[1], a[2], a[3], a[4], a[5]) < 0)
        return errno;
    if (getpid() != self)
        _exit(0); /* what clone has made */
    return 0;
}

/* The error of a probe without the filter. */
static int outside(const struct probe *probe) {
    pid_t child = fork();
    if (child == 0)
        _exit(try_probe((void *)probe));
    return filtered_wait(child);
}

static struct syscall_filter *filter;

static int make_filter(void **state) {
    (void)state;
    char message[256];
    filter = syscall_filter_for(HERE, false, message, sizeof message);
    return filter ? 0 : -1;
}

static int free_filter(void **state) {
    (void)state;
    syscall_filter_free(filter);
    return 0;
}

static int inside(filtered_body *body, const void *argument) {
    return filtered_wait(filtered_start(filter, NULL, body, (void *)argument));
}

static void each_probe_fails_for_the_filter_alone(void **state) {
    (void)state;
    size_t told_apart = 0;
    for (size_t i = 0; i < PROBES; i++) {
        const struct probe *probe = &probes[i];
        int there = outside(probe), here = inside(try_probe, probe);
        if (here != probe->inside)
            fail_msg("%s: %s under the filter", probe->what, strerror(here));
        /* An ordinary user may not do some of these anywhere, and some kernels lack them. */
        if (there == probe->inside)
            print_message("%s: skipped: outside the error is \"%s\" too\n", probe->what,
                          strerror(there));
        told_apart += there != probe->inside;
    }
    print_message("%zu of %zu are possible outside\n", told_apart, PROBES);
    assert_true(told_apart > PROBES / 2);
}

#if defined __x86_64__
/* getpid by the entry of 32-bit programs. */
static int enter_i386(void *argument) {
    (void)argument;
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "0"(20L) : "memory", "r8", "r9", "r10", "r11");
    return (int)result == getpid() ? 0 : -(int)result;
}

static int enter_x32(void *argument) {
    (void)argument;
    return syscall(0x40000000 | SYS_getpid) == getpid() ? 0 : errno;
}

static void the_entries_of_other_architectures_are_shut(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(enter_i386(NULL));
    int there = filtered_wait(child);
    assert_int_equal(inside(enter_i386, NULL), ENOSYS);
    assert_int_equal(inside(enter_x32, NULL), ENOSYS);
    if (there != 0) {
        print_message("skipped: this kernel has no 32-bit entry (%d)\n", there);
        skip();
    }
}
#endif

static void *set_flag(void *flag) {
    *(int *)flag = 1;
    return NULL;
}

/* What programs do all day. Returns the line where it failed. */
#define MUST(condition)                                                                            \
    if (!(condition))                                                                              \
    return __LINE__ % 250
static int work(void *argument) {
    (void)argument;
    pthread_t thread;
    int flag = 0, pair[2];
    struct sockaddr_in address = {.sin_family = AF_INET};
    MUST(pthread_create(&thread, NULL, set_flag, &flag) == 0);
    MUST(pthread_join(thread, NULL) == 0 && flag);
    MUST(system("exit 7") == 7 << 8);
    FILE *output = popen("echo word | cat", "r");
    char line[16] = "";
    MUST(output && fgets(line, sizeof line, output) && strcmp(line, "word\n") == 0);
    MUST(pclose(output) == 0);
    int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MUST(tcp >= 0 && bind(tcp, (struct sockaddr *)&address, sizeof address) == 0);
    MUST(listen(tcp, 1) == 0);
    MUST(socket(AF_INET6, SOCK_DGRAM, 0) >= 0 || errno == EAFNOSUPPORT);
    MUST(socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
    MUST(epoll_create1(0) >= 0 && eventfd(0, 0) >= 0 && timerfd_create(CLOCK_MONOTONIC, 0) >= 0);
    int file = memfd_create("work", 0);
    MUST(file >= 0 && ftruncate(file, 4096) == 0);
    MUST(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED);
    MUST(syscall(SYS_syncfs, file) == 0);
    MUST(personality(0xffffffff) == 0);
    MUST(mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
         MAP_FAILED);
    sync();
    return 0;
}

static void what_programs_need_works(void **state) {
    (void)state;
    assert_int_equal(inside(work, NULL), 0);
}

/* A filter that code puts on itself may refuse more, and still not less. */
static int add_own_filter(void *argument) {
    (void)argument;
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &allow};
    MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
    MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    MUST(syscall(SYS_unshare, 0) == -1 && errno == EPERM);
    return 0;
}

static void a_filter_of_its_own_gives_code_nothing(void **state) {
    (void)state;
    assert_int_equal(inside(add_own_filter, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_probe_fails_for_the_filter_alone),
#if defined __x86_64__
        cmocka_unit_test(the_entries_of_other_architectures_are_shut),
#endif
        cmocka_unit_test(what_programs_need_works),
        cmocka_unit_test(a_filter_of_its_own_gives_code_nothing),
    };
    return cmocka_run_group_tests(tests, make_filter, free_filter);
}
