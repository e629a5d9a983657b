/* call_filter.c - a list of what sockets, threads and libc's resolver need. No program can be
 * executed, no process started or signalled, no file written, no namespace entered, and no memory
 * made executable that is not of a file. */
#include "call_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_program.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "sandboxes run on x86-64 and arm64 only"
#endif

#define ORIGINAL_DESTINATION 80 /* SO_ORIGINAL_DST, IP6T_SO_ORIGINAL_DST */

/* With any arguments. */
static const int allowed[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_close,
    SYS_lseek,
    SYS_pread64,
    SYS_fstat,
    SYS_newfstatat,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_exit,
    SYS_exit_group,
    SYS_restart_syscall,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_ppoll,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_connect,
    SYS_bind,
    SYS_accept4,
    SYS_shutdown,
    SYS_getsockname,
    SYS_getpeername,
    SYS_sendto,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_sendmmsg,
    SYS_recvmmsg,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_uname,
    SYS_sysinfo,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
#ifdef __x86_64__
    SYS_poll,
    SYS_epoll_wait,
    SYS_time,
#endif
};

#define CONDITIONS_MAX 3
#define WHOLE 0xffffffffu

/* Allowed when each argument has the value in the bits of its mask; mask 0 ends them. */
struct checked {
    int number;
    struct {
        unsigned index;
        uint32_t mask, value;
    } conditions[CONDITIONS_MAX];
};

#define SOCKET(family, type, protocol)                                                             \
    {                                                                                              \
        SYS_socket, {                                                                              \
            {0, WHOLE, family}, {1, 0xf, type}, {                                                  \
                2, WHOLE, protocol                                                                 \
            }                                                                                      \
        }                                                                                          \
    }
#define OPTION(call, level, name)                                                                  \
    {                                                                                              \
        call, {                                                                                    \
            {1, WHOLE, level}, {                                                                   \
                2, WHOLE, name                                                                     \
            }                                                                                      \
        }                                                                                          \
    }

#define THREAD (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define OTHER_KINDS                                                                                \
    (CLONE_VFORK | CLONE_PTRACE | CLONE_PARENT | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |    \
     CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

static const struct checked checked[] = {
    SOCKET(AF_INET, SOCK_STREAM, 0),
    SOCKET(AF_INET, SOCK_DGRAM, 0),
    SOCKET(AF_INET6, SOCK_STREAM, 0),
    SOCKET(AF_INET6, SOCK_DGRAM, 0),
    /* The host's addresses. */
    SOCKET(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE),
    /* libc takes one to find the number of a link: of a resolver like fe80::1%eth0. */
    SOCKET(AF_UNIX, SOCK_DGRAM, 0),
    {SYS_ioctl, {{1, WHOLE, SIOCGIFINDEX}}},
    {SYS_ioctl, {{1, WHOLE, FIONREAD}}},
    OPTION(SYS_setsockopt, SOL_SOCKET, SO_RCVTIMEO),
    OPTION(SYS_setsockopt, SOL_SOCKET, SO_SNDTIMEO),
    OPTION(SYS_setsockopt, SOL_SOCKET, SO_KEEPALIVE),
    OPTION(SYS_setsockopt, SOL_SOCKET, SO_LINGER),
    OPTION(SYS_setsockopt, IPPROTO_IP, IP_RECVERR),
    OPTION(SYS_setsockopt, IPPROTO_IPV6, IPV6_RECVERR),
    OPTION(SYS_getsockopt, SOL_SOCKET, SO_ERROR),
    OPTION(SYS_getsockopt, IPPROTO_IP, ORIGINAL_DESTINATION),
    OPTION(SYS_getsockopt, IPPROTO_IPV6, ORIGINAL_DESTINATION),
    {SYS_openat, {{2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY}}},
    {SYS_fcntl, {{1, WHOLE, F_GETFL}}},
    {SYS_fcntl, {{1, WHOLE, F_SETFL}}},
    {SYS_fcntl, {{1, WHOLE, F_GETFD}}},
    {SYS_fcntl, {{1, WHOLE, F_SETFD}}},
    {SYS_clone, {{0, THREAD | OTHER_KINDS, THREAD}}},
    {SYS_mmap, {{2, PROT_EXEC, 0}}},
    /* What libc loads to find names. */
    {SYS_mmap, {{2, PROT_EXEC | PROT_WRITE, PROT_EXEC}, {3, MAP_ANONYMOUS, 0}}},
    {SYS_mprotect, {{2, PROT_EXEC, 0}}},
};

static void write_checked(struct bpf_program *program, const struct checked *call) {
    size_t places[CONDITIONS_MAX + 1], count = 0;
    bpf_load_number(program);
    places[count++] = bpf_skip_unless_equal(program, (uint32_t)call->number);
    for (size_t i = 0; i < CONDITIONS_MAX && call->conditions[i].mask; i++) {
        bpf_load_argument(program, call->conditions[i].index, call->conditions[i].mask);
        places[count++] = bpf_skip_unless_equal(program, call->conditions[i].value);
    }
    bpf_return(program, SECCOMP_RET_ALLOW);
    while (count > 0)
        bpf_land(program, places[--count]);
}

static void write_filter(struct bpf_program *program) {
    const uint32_t refused = SECCOMP_RET_ERRNO | ENOSYS;
    bpf_load_architecture(program);
    bpf_return_unless_equal(program, ARCHITECTURE, refused);
    bpf_load_number(program);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        bpf_return_if_equal(program, (uint32_t)allowed[i], SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++)
        write_checked(program, &checked[i]);
    bpf_return(program, refused);
}

int call_filter_install(void) {
    struct bpf_program *program = calloc(1, sizeof *program);
    if (!program)
        return -1;
    write_filter(program);
    struct sock_fprog filter = {(unsigned short)program->count, program->code};
    int result =
        program->full ? -1 : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
    free(program);
    return result;
}
