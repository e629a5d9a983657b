/*
 * syscall_rules.c - what Python, JavaScript, Java, R, shells, compilers, git and package tools call
 * is allowed, where it concerns the caller and its own namespaces alone; the rest is not.
 */
#include "syscall_rules.h"

#include <errno.h>
#include <stddef.h>

const char *const syscalls_allowed[] = {
    /* memory */
    "brk", "mincore", "mlock", "mlock2", "mlockall", "mprotect", "mremap", "mseal", "msync",
    "munlock", "munlockall", "munmap", "membarrier", "pkey_alloc", "pkey_free", "pkey_mprotect",
    "get_mempolicy",
    /* files by descriptor */
    "close", "close_range", "copy_file_range", "dup", "dup2", "dup3", "fallocate", "fchdir",
    "fchmod", "fchown", "fcntl", "fdatasync", "flock", "fstat", "fstatfs", "fsync", "ftruncate",
    "getdents", "getdents64", "lseek", "pipe", "pipe2", "pread64", "preadv", "preadv2", "pwrite64",
    "pwritev", "pwritev2", "read", "readahead", "readv", "sendfile", "splice", "sync_file_range",
    "tee", "write", "writev", "cachestat",
    /* files by name */
    "access", "chdir", "chmod", "chown", "chroot", "creat", "faccessat", "faccessat2", "fchmodat",
    "fchmodat2", "fchownat", "futimesat", "getcwd", "lchown", "link", "linkat", "lstat", "mkdir",
    "mkdirat", "newfstatat", "open", "openat", "openat2", "readlink", "readlinkat", "rename",
    "renameat", "renameat2", "rmdir", "stat", "statfs", "statx", "symlink", "symlinkat", "truncate",
    "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes", "getxattr", "lgetxattr",
    "fgetxattr", "setxattr", "lsetxattr", "fsetxattr", "listxattr", "llistxattr", "flistxattr",
    "removexattr", "lremovexattr", "fremovexattr",
    /* waiting for events */
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait",
    "eventfd", "eventfd2", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch",
    "poll", "ppoll", "pselect6", "select", "signalfd", "signalfd4", "timerfd_create",
    "timerfd_gettime", "timerfd_settime",
    /* sockets that there are */
    "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen",
    "recvfrom", "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "shutdown",
    /* processes and threads */
    "arch_prctl", "execve", "execveat", "exit", "exit_group", "fork", "futex", "futex_requeue",
    "futex_wait", "futex_waitv", "futex_wake", "get_robust_list", "getcpu", "getpgid", "getpgrp",
    "getpid", "getppid", "getsid", "gettid", "pidfd_open", "restart_syscall", "rseq",
    "set_robust_list", "set_tid_address", "setpgid", "setsid", "vfork", "wait4", "waitid",
    /* scheduling and limits */
    "getpriority", "getrlimit", "getrusage", "ioprio_get", "ioprio_set", "sched_get_priority_max",
    "sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam",
    "sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity", "sched_setattr",
    "sched_setparam", "sched_setscheduler", "sched_yield", "setpriority",
    /* signals */
    "kill", "pause", "pidfd_send_signal", "rt_sigaction", "rt_sigpending", "rt_sigprocmask",
    "rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo",
    "sigaltstack", "tgkill", "tkill",
    /* time, to be read and waited for */
    "alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "gettimeofday",
    "nanosleep", "setitimer", "time", "timer_create", "timer_delete", "timer_getoverrun",
    "timer_gettime", "timer_settime", "times",
    /* who one is: the user namespace says what may be taken */
    "capget", "capset", "getegid", "geteuid", "getgid", "getgroups", "getresgid", "getresuid",
    "getuid", "setfsgid", "setfsuid", "setgid", "setgroups", "setregid", "setresgid", "setresuid",
    "setreuid", "setuid",
    /* the host, as far as everybody may know it */
    "getrandom", "sysinfo", "uname",
    /* of the sandbox's own IPC namespace */
    "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink",
    "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop", "shmat",
    "shmctl", "shmdt",
    /* what can only take rights away */
    "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", NULL};

const struct syscall_quiet syscalls_quiet[] = {
    /* Its flags are in memory, where a filter cannot see them. The C library takes clone then. */
    {"clone3", ENOSYS},
    /* What a sandbox writes is never on a disk; they would have the host write everybody's. */
    {"sync", 0},
    {"syncfs", 0},
    /* Libraries for arithmetic say where they would like their memory. */
    {"mbind", EPERM},
    {"set_mempolicy", EPERM},
    {"set_mempolicy_home_node", ENOSYS},
    {"map_shadow_stack", ENOSYS},
    {"statmount", ENOSYS},
    {"listmount", ENOSYS},
    {0},
};

const char *const syscalls_refused[] = {
    /* other processes, from inside */
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
    "move_pages", "migrate_pages",
    /* namespaces, mounts and file systems */
    "unshare", "setns", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr", "open_tree_attr", "swapon", "swapoff",
    "quotactl", "quotactl_fd", "name_to_handle_at", "open_by_handle_at", "fanotify_init",
    "fanotify_mark",
    /* the kernel itself */
    "bpf", "perf_event_open", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "reboot", "syslog", "acct", "iopl", "ioperm", "modify_ldt", "userfaultfd",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "add_key", "request_key", "keyctl",
    "vmsplice", "memfd_secret",
    /* The number of their queues is limited for the host as a whole. */
    "io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "io_pgetevents",
    /* the clock and the names of the host */
    "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname",
    "vhangup", NULL};

const struct syscall_number syscalls_newer[] = {{"pidfd_send_signal", 424},
                                                {"io_uring_setup", 425},
                                                {"io_uring_enter", 426},
                                                {"io_uring_register", 427},
                                                {"open_tree", 428},
                                                {"move_mount", 429},
                                                {"fsopen", 430},
                                                {"fsconfig", 431},
                                                {"fsmount", 432},
                                                {"fspick", 433},
                                                {"pidfd_open", 434},
                                                {"clone3", 435},
                                                {"close_range", 436},
                                                {"openat2", 437},
                                                {"pidfd_getfd", 438},
                                                {"faccessat2", 439},
                                                {"process_madvise", 440},
                                                {"epoll_pwait2", 441},
                                                {"mount_setattr", 442},
                                                {"quotactl_fd", 443},
                                                {"landlock_create_ruleset", 444},
                                                {"landlock_add_rule", 445},
                                                {"landlock_restrict_self", 446},
                                                {"memfd_secret", 447},
                                                {"futex_waitv", 449},
                                                {"set_mempolicy_home_node", 450},
                                                {"cachestat", 451},
                                                {"fchmodat2", 452},
                                                {"map_shadow_stack", 453},
                                                {"futex_wake", 454},
                                                {"futex_wait", 455},
                                                {"futex_requeue", 456},
                                                {"statmount", 457},
                                                {"listmount", 458},
                                                {"mseal", 462},
                                                {"open_tree_attr", 467},
                                                {NULL, 0}};
