/*
 * syscall_filter.h - the filter of system calls that every process of a sandbox runs under.
 *
 * Made once by the engine, as a program for seccomp(2) in a sealed memory file. Whoever becomes the
 * first process of a sandbox, or enters one, installs it on itself, and hands the descriptor that
 * it gets for it to the engine, which answers the calls that are refused (refused_calls.h).
 */
#ifndef STEPBOX_SYSCALL_FILTER_H
#define STEPBOX_SYSCALL_FILTER_H

#include <jansson.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct syscall_filter;

/* NULL, with message for people, when this host cannot filter calls. To be called before there are
 * threads, or children that others wait for: it tries what the kernel can in a child of its own. */
struct syscall_filter *syscall_filter_new(char *message, size_t room);
/* The same for an architecture (AUDIT_ARCH_X86_64 or AUDIT_ARCH_AARCH64), not tried. counted: as
 * syscall_filter_is_counted() shall say. */
struct syscall_filter *syscall_filter_for(uint32_t architecture, bool counted, char *message,
                                          size_t room);
void syscall_filter_free(struct syscall_filter *filter);

/* An array of struct sock_filter, for reading; the filter's own. */
int syscall_filter_fd(const struct syscall_filter *filter);
/* Whether refused calls are handed to the engine. Where the kernel cannot do that, it answers them
 * itself. */
bool syscall_filter_is_counted(const struct syscall_filter *filter);

/* {"architecture": "x86_64", "instructions": 300, "refusedCallsCounted": true}; NULL when out of
 * memory. */
json_t *syscall_filter_describe(const struct syscall_filter *filter);

/* What calls are counted by: an index below SYSCALL_KINDS. */
#define SYSCALL_NUMBERS 512
#define SYSCALL_KINDS (SYSCALL_NUMBERS + 2)
size_t syscall_filter_kind(const struct syscall_filter *filter, const struct seccomp_data *call);
/* The name of such an index: of a call, or "other" or "other_architecture". It is valid until the
 * next call of this function. */
const char *syscall_filter_kind_name(struct syscall_filter *filter, size_t kind);
/* The errno value that a refused call gets. */
int syscall_filter_error(const struct syscall_filter *filter, const struct seccomp_data *call);

#endif
