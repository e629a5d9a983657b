/*
 * syscall_arguments.c - the calls that are allowed with some arguments, and not with others.
 */
#include "syscall_rules.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "bpf_program.h"

/* What headers of Debian 12 do not have yet, or not for all architectures. */
#define PRCTL_SET_MDWE 65
#define PRCTL_GET_MDWE 66
#define PRCTL_SET_VMA 0x53564d41 /* names memory, for those who look at it */
#define PROTOCOL_MPTCP 262
#define IOCTL_TCGETS2 0x802c542a
#define IOCTL_TCSETS2 0x402c542b
#define IOCTL_TCSETSW2 0x402c542c
#define IOCTL_TCSETSF2 0x402c542d
#define IOCTL_SIOCGSTAMP 0x8906

static const uint32_t ioctls[] = {
    /* any descriptor: the usual ones first, for they are compared one after the other */
    TCGETS, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, FIOASYNC, FIOQSIZE,
    /* terminals */
    TIOCGWINSZ, TIOCGPGRP, TCSETS, TCSETSW, TCSETSF, TCGETA, TCSETA, TCSETAW, TCSETAF, TCSBRK,
    TCSBRKP, TCXONC, TCFLSH, TIOCEXCL, TIOCNXCL, TIOCSCTTY, TIOCNOTTY, TIOCSPGRP, TIOCGSID,
    TIOCOUTQ, TIOCSWINSZ, TIOCMGET, TIOCPKT, TIOCGPKT, TIOCGETD, TIOCGPTN, TIOCSPTLCK, TIOCGPTLCK,
    TIOCGPTPEER, TIOCGEXCL, TIOCGLCKTRMIOS, IOCTL_TCGETS2, IOCTL_TCSETS2, IOCTL_TCSETSW2,
    IOCTL_TCSETSF2,
    /* files */
    FICLONE, FICLONERANGE, FIDEDUPERANGE, FIGETBSZ, FS_IOC_FIEMAP, FS_IOC_GETFLAGS, FS_IOC_SETFLAGS,
    FS_IOC_GETVERSION, FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR,
    /* sockets and interfaces, to be asked */
    SIOCATMARK, SIOCGPGRP, SIOCSPGRP, FIOGETOWN, FIOSETOWN, SIOCGIFNAME, SIOCGIFCONF, SIOCGIFFLAGS,
    SIOCGIFADDR, SIOCGIFDSTADDR, SIOCGIFBRDADDR, SIOCGIFNETMASK, SIOCGIFMETRIC, SIOCGIFMTU,
    SIOCGIFHWADDR, SIOCGIFINDEX, SIOCGIFTXQLEN, SIOCGIFMAP, IOCTL_SIOCGSTAMP, RNDGETENTCNT};

static const uint32_t prctl_options[] = {
    PR_SET_PDEATHSIG, PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_GET_KEEPCAPS,
    PR_SET_KEEPCAPS, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_SET_SECCOMP, PR_CAPBSET_READ,
    PR_CAPBSET_DROP, PR_GET_SECUREBITS, PR_SET_SECUREBITS, PR_SET_TIMERSLACK, PR_GET_TIMERSLACK,
    PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS,
    PR_GET_TID_ADDRESS, PR_SET_THP_DISABLE, PR_GET_THP_DISABLE, PR_CAP_AMBIENT,
    PR_GET_SPECULATION_CTRL, PR_SET_SPECULATION_CTRL, PRCTL_GET_MDWE, PRCTL_SET_MDWE, PRCTL_SET_VMA,
    /* arm64: the width of vectors, signed pointers and tagged memory */
    PR_SVE_SET_VL, PR_SVE_GET_VL, PR_PAC_RESET_KEYS, PR_PAC_SET_ENABLED_KEYS,
    PR_PAC_GET_ENABLED_KEYS, PR_SET_TAGGED_ADDR_CTRL, PR_GET_TAGGED_ADDR_CTRL};

/* PER_LINUX, and the question which it is. */
static const uint32_t personalities[] = {0, 0xffffffff};

/* No devices. */
static const uint32_t node_types[] = {0, S_IFREG, S_IFIFO, S_IFSOCK};

static const uint32_t pair_families[] = {AF_UNIX};

/* SECCOMP_SET_MODE_FILTER is below: with conditions. */
static const uint32_t seccomp_operations[] = {SECCOMP_SET_MODE_STRICT, SECCOMP_GET_ACTION_AVAIL,
                                              SECCOMP_GET_NOTIF_SIZES};

#define VALUES(list) list, sizeof(list) / sizeof *(list)
#define WHOLE_INT 0xffffffff

const struct syscall_values syscalls_by_value[] = {
    {"ioctl", 1, WHOLE_INT, VALUES(ioctls)},
    {"prctl", 0, WHOLE_INT, VALUES(prctl_options)},
    {"personality", 0, WHOLE_INT, VALUES(personalities)},
    {"mknod", 1, S_IFMT, VALUES(node_types)},
    {"mknodat", 2, S_IFMT, VALUES(node_types)},
    {"socketpair", 0, WHOLE_INT, VALUES(pair_families)},
    {"seccomp", 0, WHOLE_INT, VALUES(seccomp_operations)},
    {0},
};

/* Any bit of these would make a new namespace. CLONE_NEWTIME is none of clone's: its bit belongs to
 * the signal there. */
#define NAMESPACES                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET)
/* Of the type, without SOCK_NONBLOCK and SOCK_CLOEXEC. */
#define SOCKET_TYPE 0xf
/* clang-format off */
#define SOCKET(family, type, protocol)                                                             \
    {{0, WHOLE_INT, family}, {1, SOCKET_TYPE, type}, {2, WHOLE_INT, protocol}}
/* clang-format on */

const struct syscall_check syscalls_checked[] = {
    {"clone", 0, {{0, NAMESPACES, 0}}},
    /* A filter of one's own can only take more away; but whoever listens to one answers for the
     * kernel. */
    {"seccomp",
     0,
     {{0, WHOLE_INT, SECCOMP_SET_MODE_FILTER}, {1, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0}}},
    /* The host's huge pages are few, set aside for a program of its own, and no part of the memory
     * that a control group counts: as if there were none. */
    {"mmap", ENOMEM, {{3, MAP_HUGETLB, MAP_HUGETLB}}},
    {"mmap", 0, {{0}}},
    {"memfd_create", ENOMEM, {{1, MFD_HUGETLB, MFD_HUGETLB}}},
    {"memfd_create", 0, {{0}}},
    {"shmget", ENOMEM, {{2, SHM_HUGETLB, SHM_HUGETLB}}},
    {"shmget", 0, {{0}}},
    /* Nobody's memory is the fuller for what a sandbox wants no more: its files have nowhere else
     * to be. What the host keeps of the files in /usr is everybody's. */
    {"fadvise64", SYSCALL_SUCCEED, {{3, WHOLE_INT, POSIX_FADV_DONTNEED}}},
    {"fadvise64", 0, {{0}}},
    {"madvise", SYSCALL_SUCCEED, {{2, WHOLE_INT, MADV_PAGEOUT}}},
    {"madvise", 0, {{0}}},
    {"socket", 0, {{0, WHOLE_INT, AF_UNIX}}},
    {"socket", 0, SOCKET(AF_INET, SOCK_STREAM, 0)},
    {"socket", 0, SOCKET(AF_INET, SOCK_STREAM, IPPROTO_TCP)},
    {"socket", 0, SOCKET(AF_INET, SOCK_DGRAM, 0)},
    {"socket", 0, SOCKET(AF_INET, SOCK_DGRAM, IPPROTO_UDP)},
    {"socket", 0, SOCKET(AF_INET6, SOCK_STREAM, 0)},
    {"socket", 0, SOCKET(AF_INET6, SOCK_STREAM, IPPROTO_TCP)},
    {"socket", 0, SOCKET(AF_INET6, SOCK_DGRAM, 0)},
    {"socket", 0, SOCKET(AF_INET6, SOCK_DGRAM, IPPROTO_UDP)},
    /* Go tries it first. */
    {"socket", EPROTONOSUPPORT, SOCKET(AF_INET, SOCK_STREAM, PROTOCOL_MPTCP)},
    {"socket", EPROTONOSUPPORT, SOCKET(AF_INET6, SOCK_STREAM, PROTOCOL_MPTCP)},
    /* The C library asks which addresses there are before it resolves a name. */
    {"socket", 0, SOCKET(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)},
    {"socket", 0, SOCKET(AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE)},
    /* Programs that add users take this for a kernel without audit, and anything else for a fault.
     */
    {"socket", EPROTONOSUPPORT, {{0, WHOLE_INT, AF_NETLINK}, {2, WHOLE_INT, NETLINK_AUDIT}}},
    /* A socket that lingers holds up whoever closes it last, also when that is the engine or the
     * agent, who may be sent it with a message: as if there were no such option. */
    {"setsockopt", ENOPROTOOPT, {{1, WHOLE_INT, SOL_SOCKET}, {2, WHOLE_INT, SO_LINGER}}},
    /* The kernel compiles filters of packets, into a space that all programs of the host share with
     * each other, and without which no filter of system calls can be made any more. */
    {"setsockopt", ENOPROTOOPT, {{1, WHOLE_INT, SOL_SOCKET}, {2, WHOLE_INT, SO_ATTACH_FILTER}}},
    {"setsockopt", ENOPROTOOPT, {{1, WHOLE_INT, SOL_SOCKET}, {2, WHOLE_INT, SO_ATTACH_BPF}}},
    {"setsockopt",
     ENOPROTOOPT,
     {{1, WHOLE_INT, SOL_SOCKET}, {2, WHOLE_INT, SO_ATTACH_REUSEPORT_CBPF}}},
    {"setsockopt",
     ENOPROTOOPT,
     {{1, WHOLE_INT, SOL_SOCKET}, {2, WHOLE_INT, SO_ATTACH_REUSEPORT_EBPF}}},
    {"setsockopt", 0, {{0}}},
    /* Where a sandbox has one user alone, the kernel would let code set the limits of process 1,
     * and so end it. Anybody may ask for them. */
    {"prlimit64", 0, {{0, WHOLE_INT, 1}, {2, WHOLE_INT, 0}, {BPF_UPPER_HALF + 2, WHOLE_INT, 0}}},
    {"prlimit64", EPERM, {{0, WHOLE_INT, 1}}},
    /* The limit of 1 keeps the host's handler of crashes from being run, which none of 0 does. That
     * it cannot be lowered is no fault to programs that want no dumps. */
    {"prlimit64",
     0,
     {{1, WHOLE_INT, RLIMIT_CORE}, {2, WHOLE_INT, 0}, {BPF_UPPER_HALF + 2, WHOLE_INT, 0}}},
    {"prlimit64", SYSCALL_SUCCEED, {{1, WHOLE_INT, RLIMIT_CORE}}},
    {"prlimit64", 0, {{0}}},
    {"setrlimit", SYSCALL_SUCCEED, {{0, WHOLE_INT, RLIMIT_CORE}}},
    {"setrlimit", 0, {{0}}},
    /* Handlers of crashes say who may look at them; here nobody may. */
    {"prctl", EINVAL, {{0, WHOLE_INT, PR_SET_PTRACER}}},
    {0},
};

/* Those of linux/seccomp.h that answer for the kernel, with any size of their argument. */
#define IS_SECCOMP_NOTIFY(request) (((request) >> 8 & 0xff) == SECCOMP_IOC_MAGIC)

int ioctl_refusal(uint32_t request) {
    switch (request) {
    case TIOCSTI:
    case TIOCLINUX:
    case TIOCSETD:
    case TIOCCONS:
    case TIOCVHANGUP:
        return EPERM;
    default:
        return IS_SECCOMP_NOTIFY(request) ? EPERM : ENOTTY;
    }
}
