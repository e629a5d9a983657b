/* syscall_filter.c - from the tables in syscall_rules.h to a program for the kernel. */
#include "syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syscall_rules.h"

#define INT_MASK 0xffffffff
#define SOCKET_TYPE_MASK 0xf /* without SOCK_NONBLOCK and SOCK_CLOEXEC */
#define KIND_OTHER SYSCALL_NUMBERS
#define KIND_OTHER_ARCHITECTURE (SYSCALL_NUMBERS + 1)

struct syscall_filter {
    int fd;
    bool counted;
    uint32_t architecture, library_architecture; /* AUDIT_ARCH_..., SCMP_ARCH_... */
    int ioctl_number;
    uint8_t errors[SYSCALL_NUMBERS]; /* of those that are refused */
    bool known[SYSCALL_NUMBERS];     /* is in one of the lists */
    char name[64];
};

/* Below 0: there is no such call on this architecture, or the library and we do not know it. */
static int number_of(const struct syscall_filter *filter, const char *name) {
    int number = seccomp_syscall_resolve_name_arch(filter->library_architecture, name);
    for (const struct syscall_number *newer = syscalls_newer;
         number == __NR_SCMP_ERROR && newer->name; newer++)
        if (strcmp(newer->name, name) == 0)
            return newer->number;
    return number < SYSCALL_NUMBERS ? number : __NR_SCMP_ERROR;
}

/* Adds a rule for a call that there may not be. 0, or -errno of the library. */
static int add(struct syscall_filter *filter, scmp_filter_ctx context, uint32_t action,
               const char *name, unsigned count, const struct scmp_arg_cmp *arguments) {
    int number = number_of(filter, name);
    if (number < 0)
        return 0;
    filter->known[number] = true;
    return seccomp_rule_add_exact_array(context, action, number, count, arguments);
}

static struct scmp_arg_cmp compare(unsigned index, uint32_t mask, uint32_t value) {
    return (struct scmp_arg_cmp){index, SCMP_CMP_MASKED_EQ, mask, value};
}

static uint32_t action_of(int error) {
    return error ? SCMP_ACT_ERRNO((unsigned)error) : SCMP_ACT_ALLOW;
}

/* Those that are decided by their arguments: allowed, or quietly refused. */
static int add_checked(struct syscall_filter *filter, scmp_filter_ctx context) {
    int failed = 0;
    for (const struct syscall_values *list = syscalls_by_value; list->name && !failed; list++)
        for (size_t i = 0; i < list->count && !failed; i++) {
            struct scmp_arg_cmp argument = compare(list->index, list->mask, list->values[i]);
            failed = add(filter, context, SCMP_ACT_ALLOW, list->name, 1, &argument);
        }
    for (const struct syscall_check *check = syscalls_checked; check->name && !failed; check++) {
        struct scmp_arg_cmp arguments[SYSCALL_ARGUMENTS_MAX];
        unsigned count = 0;
        for (; count < SYSCALL_ARGUMENTS_MAX && check->arguments[count].mask; count++)
            arguments[count] = compare(check->arguments[count].index, check->arguments[count].mask,
                                       check->arguments[count].value);
        failed = add(filter, context, action_of(check->error), check->name, count, arguments);
    }
    for (const struct socket_kind *kind = sockets_checked; kind->family && !failed; kind++) {
        struct scmp_arg_cmp arguments[] = {compare(0, INT_MASK, (uint32_t)kind->family),
                                           compare(1, SOCKET_TYPE_MASK, (uint32_t)kind->type),
                                           compare(2, INT_MASK, (uint32_t)kind->protocol)};
        failed = add(filter, context, action_of(kind->error), "socket", 3, arguments);
    }
    for (int number = 0; number < SYSCALL_NUMBERS; number++)
        if (filter->known[number])
            filter->errors[number] = EPERM;
    return failed;
}

/* Those that are decided by their names. */
static int add_named(struct syscall_filter *filter, scmp_filter_ctx context) {
    int failed = 0;
    for (const char *const *name = syscalls_allowed; *name && !failed; name++)
        failed = add(filter, context, SCMP_ACT_ALLOW, *name, 0, NULL);
    for (const struct syscall_quiet *quiet = syscalls_quiet; quiet->name && !failed; quiet++)
        failed = add(filter, context, SCMP_ACT_ERRNO((unsigned)quiet->error), quiet->name, 0, NULL);
    for (const char *const *name = syscalls_refused; *name; name++) {
        int number = number_of(filter, *name);
        if (number >= 0)
            filter->errors[number] = EPERM;
    }
    return failed;
}

/* Nobody is asked when the kernel answers by itself: with EPERM, unless there is no such call. */
static int add_unknown(struct syscall_filter *filter, scmp_filter_ctx context) {
    int failed = 0;
    for (int number = 0; number < SYSCALL_NUMBERS && !failed; number++)
        if (!filter->known[number] && filter->errors[number] == ENOSYS)
            failed = seccomp_rule_add_exact_array(context, SCMP_ACT_ERRNO(ENOSYS), number, 0, NULL);
    return failed;
}

static int add_rules(struct syscall_filter *filter, scmp_filter_ctx context) {
    memset(filter->errors, ENOSYS, sizeof filter->errors);
    uint32_t refuse = filter->counted ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(ENOSYS);
    int failed = 0;
    if (filter->library_architecture != seccomp_arch_native())
        failed = seccomp_arch_add(context, filter->library_architecture);
    if (filter->library_architecture != seccomp_arch_native() && !failed)
        failed = seccomp_arch_remove(context, seccomp_arch_native());
    /* The calls of other architectures have other numbers, so all are shut. A tree of numbers is
     * shorter to go through than a list. */
    if (!failed)
        failed = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, refuse);
    if (!failed)
        failed = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (!failed)
        failed = add_checked(filter, context);
    if (!failed)
        failed = add_named(filter, context);
    if (!failed && !filter->counted)
        failed = add_unknown(filter, context);
    filter->ioctl_number = number_of(filter, "ioctl");
    return failed;
}

/* Writes the program into the filter's memory file, and closes that to changes. 0, or -errno. */
static int build(struct syscall_filter *filter) {
    /* What the kernel here can do does not matter for building; the library asks it if not told. */
    seccomp_api_set(5);
    scmp_filter_ctx context =
        seccomp_init(filter->counted ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(EPERM));
    if (!context)
        return -ENOMEM;
    int failed = add_rules(filter, context);
    filter->fd = memfd_create("stepbox-filter", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (!failed && filter->fd < 0)
        failed = -errno;
    if (!failed)
        failed = seccomp_export_bpf(context, filter->fd);
    seccomp_release(context);
    int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    if (!failed && fcntl(filter->fd, F_ADD_SEALS, seals) < 0)
        failed = -errno;
    off_t size = failed ? 0 : lseek(filter->fd, 0, SEEK_END);
    return size > (off_t)(BPF_MAXINSNS * sizeof(struct sock_filter)) ? -E2BIG : failed;
}

struct syscall_filter *syscall_filter_for(uint32_t architecture, bool counted, char *message,
                                          size_t room) {
    struct syscall_filter *filter = calloc(1, sizeof *filter);
    int failed = -ENOMEM;
    if (filter) {
        filter->fd = -1;
        filter->counted = counted;
        filter->architecture = architecture;
        filter->library_architecture = architecture; /* they are the same numbers but for x32 */
        failed = architecture == AUDIT_ARCH_X86_64 || architecture == AUDIT_ARCH_AARCH64
                     ? build(filter)
                     : -EOPNOTSUPP;
    }
    if (!failed)
        return filter;
    snprintf(message, room, "the filter of system calls cannot be made: %s",
             failed == -EOPNOTSUPP ? "sandboxes run on x86-64 and arm64 only" : strerror(-failed));
    syscall_filter_free(filter);
    return NULL;
}

enum support { SUPPORT_COUNTED, SUPPORT_PLAIN, SUPPORT_NONE };

/* What a program can install here. In a child, since it is for ever. */
static enum support find_support(void) {
    pid_t child = fork();
    if (child == 0) {
        struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        struct sock_fprog program = {1, &allow};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                    &program) >= 0)
            _exit(SUPPORT_COUNTED);
        /* EBUSY: whoever made the engine's own container counts its calls in this way. */
        _exit(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? SUPPORT_PLAIN
                                                                              : SUPPORT_NONE);
    }
    int status;
    pid_t ended;
    do
        ended = child < 0 ? -1 : waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == child && WIFEXITED(status) ? (enum support)WEXITSTATUS(status) : SUPPORT_NONE;
}

struct syscall_filter *syscall_filter_new(char *message, size_t room) {
    enum support support = find_support();
    if (support == SUPPORT_NONE) {
        snprintf(message, room,
                 "the kernel does not let programs filter system calls (CONFIG_SECCOMP_FILTER), "
                 "which sandboxes need");
        return NULL;
    }
    return syscall_filter_for(seccomp_arch_native(), support == SUPPORT_COUNTED, message, room);
}

void syscall_filter_free(struct syscall_filter *filter) {
    if (filter && filter->fd >= 0)
        close(filter->fd);
    free(filter);
}

int syscall_filter_fd(const struct syscall_filter *filter) {
    return filter->fd;
}

bool syscall_filter_is_counted(const struct syscall_filter *filter) {
    return filter->counted;
}

json_t *syscall_filter_describe(const struct syscall_filter *filter) {
    off_t size = lseek(filter->fd, 0, SEEK_END);
    return json_pack("{s:s, s:I, s:b}", "architecture",
                     filter->architecture == AUDIT_ARCH_X86_64 ? "x86_64" : "aarch64",
                     "instructions", (json_int_t)size / (json_int_t)sizeof(struct sock_filter),
                     "refusedCallsCounted", filter->counted);
}

size_t syscall_filter_kind(const struct syscall_filter *filter, const struct seccomp_data *call) {
    /* x32 says that it is x86-64, and has a bit of its own in the number. */
    if (call->arch != filter->architecture || (call->nr > 0 && call->nr & 0x40000000))
        return KIND_OTHER_ARCHITECTURE;
    return call->nr >= 0 && call->nr < SYSCALL_NUMBERS ? (size_t)call->nr : KIND_OTHER;
}

const char *syscall_filter_kind_name(struct syscall_filter *filter, size_t kind) {
    if (kind >= SYSCALL_NUMBERS)
        return kind == KIND_OTHER ? "other" : "other_architecture";
    for (const struct syscall_number *newer = syscalls_newer; newer->name; newer++)
        if ((size_t)newer->number == kind)
            return newer->name;
    char *name = seccomp_syscall_resolve_num_arch(filter->library_architecture, (int)kind);
    if (name)
        snprintf(filter->name, sizeof filter->name, "%s", name);
    else
        snprintf(filter->name, sizeof filter->name, "syscall_%zu", kind);
    free(name);
    return filter->name;
}

int syscall_filter_error(const struct syscall_filter *filter, const struct seccomp_data *call) {
    size_t kind = syscall_filter_kind(filter, call);
    if (kind >= SYSCALL_NUMBERS)
        return ENOSYS;
    if (call->nr == filter->ioctl_number)
        return ioctl_refusal((uint32_t)call->args[1]);
    return filter->errors[kind];
}
