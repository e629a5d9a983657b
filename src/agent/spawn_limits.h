/*
 * spawn_limits.h - the limits of the agent itself, and those of what it starts.
 *
 * The engine has set them for the first process of the sandbox: the soft ones are meant for
 * programs, and the agent raises its own to the hard ones.
 */
#ifndef STEPBOX_SPAWN_LIMITS_H
#define STEPBOX_SPAWN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* At start: how many processes there may be when the agent makes one. */
void spawn_limits_raise(void);

/* At start: bytes that a runner, or any program, may write to of its own memory (RLIMIT_DATA). 0:
 * no limit. Runners may raise theirs up to that of programs. */
void spawn_limits_of_data(int64_t runners, int64_t programs);
/* What was said of runners. */
int64_t spawn_limits_runner_data(void);

/* In the child, while it still is who the agent is. When memory runs out the kernel shall end
 * programs, not the agent. */
void spawn_offer_to_kernel(void);

/* In the child. A runner keeps the bound of its own memory, so that code gets an error that it can
 * handle; other programs may reserve what they will not use. */
void spawn_limits_lower(bool runner);

#endif
