/*
 * runner_source.h - asks the engine for runners that are forked instead of started.
 *
 * The engine's answer comes on the control socket, with the descriptors of the runner or without
 * any: then the agent starts the program itself. One runner is always asked for in advance, so that
 * the next context need not wait for it. An agent without an engine has no source.
 */
#ifndef STEPBOX_RUNNER_SOURCE_H
#define STEPBOX_RUNNER_SOURCE_H

#include "control_message.h"
#include "runner_message.h"

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

struct runner_source;

/* Called once; fds (then the callee's), or NULL when the engine has none to give. */
typedef void runner_answer(const int fds[RUNNER_FDS], void *user);

/* Sends on the control socket, which stays the caller's. NULL when out of memory. */
struct runner_source *runner_source_new(struct ev_loop *loop, int control_fd);
/* Asks for the one in advance. */
void runner_source_begin(struct runner_source *source);
void runner_source_free(struct runner_source *source);

/* Whether there can be forked runners of the language. */
bool runner_source_has(const char *language);
/* The one in advance; false when there is none. source may be NULL. */
bool runner_source_take_spare(struct runner_source *source, int fds[RUNNER_FDS]);
/* Asks for a runner. A number, or -1 when it cannot be asked for (or source is NULL): there will be
 * no answer then. */
int runner_source_ask(struct runner_source *source, runner_answer *answer, void *user);
/* Nobody waits for that answer any more. */
void runner_source_forget(struct runner_source *source, int number);

/* Takes a message that came on the control socket; false when it is none of this kind. */
bool runner_source_take(struct runner_source *source, control_message *message);

/* Whether a program with this environment (NAME=VALUE) finds the same interpreter in a forked
 * runner: what it reads at its start alone must not be set. */
bool runner_source_suits(char *const *environment);

#endif
