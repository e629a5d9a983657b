/*
 * runner_process.h - how the process of a runner comes to be: forked by the engine's zygote when it
 * has one, started as a program otherwise.
 */
#ifndef STEPBOX_RUNNER_PROCESS_H
#define STEPBOX_RUNNER_PROCESS_H

#include "runner.h"

typedef struct runner_ends {
    pid_t pid; /* 0: it says hello first (RUNNER_HELLO), and the kernel who it is */
    int channel, out, err;
    json_t *begin; /* what it is told first; NULL: nothing */
} runner_ends;

/* Starts the program. 0 and the ends, which are the caller's; -1 with errno. */
int runner_process_start(const runner_options *options, runner_ends *ends);

/* Takes the forked one that is there in advance, if there is. */
bool runner_process_take_spare(const runner_options *options, runner_ends *ends);

/* Asks for a forked one; `told` is called once, later: with the ends, which are the callee's, or
 * with NULL and errno when no process could be started in either way. NULL when there is nobody to
 * ask: runner_process_start() remains. */
struct runner_request;
typedef void runner_told(const runner_ends *ends, void *user);
struct runner_request *runner_request_new(const runner_options *options, runner_told *told,
                                          void *user);
/* Only before `told` was called. */
void runner_request_cancel(struct runner_request *request);

/* Reads the hello: the pid; 0 when it has not come yet; -1 when there will be none. */
pid_t runner_process_hello(int channel);

#endif
