/*
 * syscall_rules.h - which system calls a sandbox may make: the tables behind syscall_filter.c.
 *
 * Each list ends with an entry that is 0. A call that is in none of them is refused with ENOSYS, as
 * by a kernel that does not know it; one that is in the lists with arguments, with other arguments,
 * with EPERM. Both are counted.
 */
#ifndef STEPBOX_SYSCALL_RULES_H
#define STEPBOX_SYSCALL_RULES_H

#include <stddef.h>
#include <stdint.h>

/* Allowed with any arguments. */
extern const char *const syscalls_allowed[];
/* Refused with EPERM, and counted. */
extern const char *const syscalls_refused[];

/* Answered by the kernel at once, and not counted: libraries try them and go on without. With error
 * 0 they do nothing, and succeed. */
struct syscall_quiet {
    const char *name;
    int error;
};
extern const struct syscall_quiet syscalls_quiet[];

/* Calls that the library may be too old to know, with their numbers, which are the same on all
 * architectures for calls as new as these. */
struct syscall_number {
    const char *name;
    int number;
};
extern const struct syscall_number syscalls_newer[];

/* Allowed when an argument, in the bits of the mask, is one of the values. What the kernel takes as
 * an int has a mask of 32 bits, since the kernel does not look at the others either. */
struct syscall_values {
    const char *name;
    unsigned index; /* of the argument */
    uint32_t mask;
    const uint32_t *values;
    size_t count;
};
extern const struct syscall_values syscalls_by_value[];

/* Allowed (error 0), or answered quietly with the error, when each argument has the value in the
 * bits of its mask; mask 0 ends the arguments. One without arguments is for what is left. */
#define SYSCALL_ARGUMENTS_MAX 3
/* As an error: does nothing, and succeeds. */
#define SYSCALL_SUCCEED (-1)
struct syscall_check {
    const char *name;
    int error;
    struct {
        unsigned index; /* BPF_UPPER_HALF + index: the upper 32 bits */
        uint32_t mask, value;
    } arguments[SYSCALL_ARGUMENTS_MAX];
};
extern const struct syscall_check syscalls_checked[];

/* The error of an ioctl that is refused: EPERM for those that are known to do harm, else ENOTTY, as
 * of a file that does not know it. */
int ioctl_refusal(uint32_t request);

#endif
