/*
 * sandbox_rlimits.h - the limits of a sandbox that hold for each process or user of it: rlimits.
 *
 * They are there with control groups too: code that asks for too much then gets an error that it
 * can handle (MemoryError, BlockingIOError) before the kernel has to end it, and the agent can
 * start processes when `user` cannot.
 */
#ifndef STEPBOX_SANDBOX_RLIMITS_H
#define STEPBOX_SANDBOX_RLIMITS_H

#include <stdbool.h>
#include <sys/resource.h>

#include "sandbox_limits.h"

/* In the child that becomes the sandbox, when it is in the sandbox's user namespace: the kernel
 * counts processes of a user for each of these. */
void sandbox_rlimits_apply(const struct limits *limits);

/* How many files each process may have open, which is less than was asked for where the engine
 * itself may have few. */
rlim_t sandbox_rlimits_open_files(const struct limits *limits);

/* What a runner may write to of its own memory (RLIMIT_DATA), in bytes. That is closer to what it
 * uses than its address space: Java and JavaScript reserve much more of that than they ever use.
 * `alone`: no control group bounds the memory, so that it is the final word, for all programs; else
 * it is what comes first, and leaves room for the sandbox's other processes and files. */
int64_t sandbox_runner_data(const struct limits *limits, bool alone);

#endif
