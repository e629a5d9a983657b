/*
 * runner_message.h - how an agent asks the engine for a runner that is forked from a zygote instead
 * of starting the language's program itself. They are control messages (control_message.h).
 *
 * The agent sends a request under a number of its own choice. The engine answers each once: with
 * the descriptors of a runner on its way, or with a refusal, after which the agent starts the
 * program itself.
 */
#ifndef STEPBOX_RUNNER_MESSAGE_H
#define STEPBOX_RUNNER_MESSAGE_H

/* agent -> engine: `number` is the request's, no descriptors; flags: the language */
#define RUNNER_REQUEST 'R'
#define RUNNER_PYTHON 0

/* engine -> agent: `number` is the request's, and the descriptors of enum runner_fd */
#define RUNNER_GIVEN 'G'
/* engine -> agent: there is none for this request */
#define RUNNER_REFUSED 'N'

enum runner_fd {
    RUNNER_FD_CHANNEL, /* a stream socket that tells who writes (SO_PASSCRED) */
    RUNNER_FD_OUT,     /* pipes to read */
    RUNNER_FD_ERR,
    RUNNER_FDS
};

/* Requests of one agent that are not answered yet: more are refused. */
#define RUNNER_REQUESTS_MAX 64

/* The first byte of a runner on its channel, before its first line; the kernel says who sent it. */
#define RUNNER_HELLO 0x05 /* ASCII's ENQ */

#endif
