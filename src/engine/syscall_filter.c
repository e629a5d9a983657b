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

#include "bpf_program.h"
#include "syscall_rules.h"

#define KIND_OTHER SYSCALL_NUMBERS
#define KIND_OTHER_ARCHITECTURE (SYSCALL_NUMBERS + 1)

/* x32 says that it is x86-64, and has this bit in its numbers. */
#define X32_BIT 0x40000000

enum rule { RULE_REFUSE, RULE_ALLOW, RULE_QUIET, RULE_CHECK };

struct syscall_filter {
    int fd;
    size_t instructions;
    bool counted;
    uint32_t architecture;           /* AUDIT_ARCH_..., which is the library's number too */
    uint8_t rules[SYSCALL_NUMBERS];  /* enum rule */
    uint8_t errors[SYSCALL_NUMBERS]; /* of those that are refused, quietly or not */
    int ioctl_number;
    char name[64];
};

/* Below 0: there is no such call on this architecture, or the library and we do not know it. */
static int number_of(const struct syscall_filter *filter, const char *name) {
    for (const struct syscall_number *newer = syscalls_newer; newer->name; newer++)
        if (strcmp(newer->name, name) == 0)
            return newer->number;
    int number = seccomp_syscall_resolve_name_arch(filter->architecture, name);
    return number < SYSCALL_NUMBERS ? number : -1;
}

static void set_rule(struct syscall_filter *filter, const char *name, enum rule rule, int error) {
    int number = number_of(filter, name);
    if (number < 0)
        return;
    filter->rules[number] = (uint8_t)rule;
    filter->errors[number] = (uint8_t)error;
}

static void read_tables(struct syscall_filter *filter) {
    memset(filter->errors, ENOSYS, sizeof filter->errors);
    for (const char *const *name = syscalls_allowed; *name; name++)
        set_rule(filter, *name, RULE_ALLOW, 0);
    for (const char *const *name = syscalls_refused; *name; name++)
        set_rule(filter, *name, RULE_REFUSE, EPERM);
    for (const struct syscall_quiet *quiet = syscalls_quiet; quiet->name; quiet++)
        set_rule(filter, quiet->name, RULE_QUIET, quiet->error);
    for (const struct syscall_values *list = syscalls_by_value; list->name; list++)
        set_rule(filter, list->name, RULE_CHECK, EPERM);
    for (const struct syscall_check *check = syscalls_checked; check->name; check++)
        set_rule(filter, check->name, RULE_CHECK, EPERM);
    filter->ioctl_number = number_of(filter, "ioctl");
}

static uint32_t refusal(const struct syscall_filter *filter, int error) {
    return filter->counted ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | (uint32_t)error;
}

static void write_check(struct bpf_program *program, const struct syscall_check *check) {
    size_t places[SYSCALL_ARGUMENTS_MAX], count = 0;
    for (; count < SYSCALL_ARGUMENTS_MAX && check->arguments[count].mask; count++) {
        bpf_load_argument(program, check->arguments[count].index, check->arguments[count].mask);
        places[count] = bpf_skip_unless_equal(program, check->arguments[count].value);
    }
    uint32_t error = check->error == SYSCALL_SUCCEED ? 0 : (uint32_t)check->error;
    bpf_return(program, check->error ? SECCOMP_RET_ERRNO | error : SECCOMP_RET_ALLOW);
    while (count > 0)
        bpf_land(program, places[--count]);
}

/* The decision about a call by its arguments: each alternative in turn. */
static void write_checks(const struct syscall_filter *filter, struct bpf_program *program,
                         int number) {
    for (const struct syscall_values *list = syscalls_by_value; list->name; list++) {
        if (number_of(filter, list->name) != number)
            continue;
        bpf_load_argument(program, list->index, list->mask);
        for (size_t i = 0; i < list->count; i++)
            bpf_return_if_equal(program, list->values[i], SECCOMP_RET_ALLOW);
    }
    for (const struct syscall_check *check = syscalls_checked; check->name; check++)
        if (number_of(filter, check->name) == number)
            write_check(program, check);
    bpf_return(program, refusal(filter, EPERM));
}

static bool is_same(const struct syscall_filter *filter, int one, int other) {
    return filter->rules[one] == filter->rules[other] && filter->rules[one] != RULE_CHECK &&
           (filter->errors[one] == filter->errors[other] || filter->rules[one] == RULE_ALLOW);
}

/* One that a row of numbers with the same decision begins with, near the middle of first to last;
 * first when all have the same. */
static int find_middle(const struct syscall_filter *filter, int first, int last) {
    int middle = first + (last - first + 1) / 2;
    for (int distance = 0; distance <= last - first; distance++) {
        if (middle + distance <= last && !is_same(filter, middle + distance, middle + distance - 1))
            return middle + distance;
        if (middle - distance > first && !is_same(filter, middle - distance, middle - distance - 1))
            return middle - distance;
    }
    return first;
}

/* The decision about the numbers from first to last: a tree of questions whether it is below. */
static void write_numbers(const struct syscall_filter *filter, struct bpf_program *program,
                          int first, int last) {
    int middle = first < last ? find_middle(filter, first, last) : first;
    if (middle > first) {
        size_t place = bpf_skip_if_from(program, (uint32_t)middle);
        write_numbers(filter, program, first, middle - 1);
        bpf_land(program, place);
        write_numbers(filter, program, middle, last);
    } else if (filter->rules[first] == RULE_CHECK) {
        write_checks(filter, program, first);
    } else if (filter->rules[first] == RULE_REFUSE) {
        bpf_return(program, refusal(filter, filter->errors[first]));
    } else if (filter->rules[first] == RULE_QUIET) {
        bpf_return(program, SECCOMP_RET_ERRNO | filter->errors[first]);
    } else {
        bpf_return(program, SECCOMP_RET_ALLOW);
    }
}

static void write_program(const struct syscall_filter *filter, struct bpf_program *program) {
    /* Other architectures have other numbers: all of them are shut. */
    bpf_load_architecture(program);
    bpf_return_unless_equal(program, filter->architecture, refusal(filter, ENOSYS));
    bpf_load_number(program);
    bpf_return_if_from(program, SYSCALL_NUMBERS, refusal(filter, ENOSYS));
    write_numbers(filter, program, 0, SYSCALL_NUMBERS - 1);
}

/* Puts the program into a memory file that is closed to changes. 0, or -1 with errno. */
static int save(struct syscall_filter *filter, const struct bpf_program *program) {
    size_t size = program->count * sizeof *program->code;
    filter->instructions = program->count;
    filter->fd = memfd_create("stepbox-filter", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return filter->fd >= 0 && pwrite(filter->fd, program->code, size, 0) == (ssize_t)size &&
                   fcntl(filter->fd, F_ADD_SEALS,
                         F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0
               ? 0
               : -1;
}

static int build(struct syscall_filter *filter) {
    struct bpf_program *program = calloc(1, sizeof *program);
    if (!program)
        return -1;
    read_tables(filter);
    write_program(filter, program);
    int result = program->full ? -1 : save(filter, program);
    int saved = program->full ? E2BIG : errno;
    free(program);
    errno = saved;
    return result;
}

struct syscall_filter *syscall_filter_for(uint32_t architecture, bool counted, char *message,
                                          size_t room) {
    if (architecture != AUDIT_ARCH_X86_64 && architecture != AUDIT_ARCH_AARCH64) {
        snprintf(message, room,
                 "sandboxes run on x86-64 and arm64 only: there is no filter of "
                 "system calls for this machine");
        return NULL;
    }
    struct syscall_filter *filter = calloc(1, sizeof *filter);
    if (filter) {
        filter->fd = -1;
        filter->counted = counted;
        filter->architecture = architecture;
        if (build(filter) == 0)
            return filter;
    }
    snprintf(message, room, "the filter of system calls cannot be made: %s", strerror(errno));
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
    return json_pack("{s:s, s:I, s:b}", "architecture",
                     filter->architecture == AUDIT_ARCH_X86_64 ? "x86_64" : "aarch64",
                     "instructions", (json_int_t)filter->instructions, "refusedCallsCounted",
                     filter->counted);
}

size_t syscall_filter_kind(const struct syscall_filter *filter, const struct seccomp_data *call) {
    if (call->arch != filter->architecture || (call->nr > 0 && call->nr & X32_BIT))
        return KIND_OTHER_ARCHITECTURE;
    return call->nr >= 0 && call->nr < SYSCALL_NUMBERS ? (size_t)call->nr : KIND_OTHER;
}

const char *syscall_filter_kind_name(struct syscall_filter *filter, size_t kind) {
    if (kind >= SYSCALL_NUMBERS)
        return kind == KIND_OTHER ? "other" : "other_architecture";
    for (const struct syscall_number *newer = syscalls_newer; newer->name; newer++)
        if ((size_t)newer->number == kind)
            return newer->name;
    char *name = seccomp_syscall_resolve_num_arch(filter->architecture, (int)kind);
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
