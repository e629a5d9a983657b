/*
 * runner_jobs.h - an agent asks for a forked runner, a zygote forks it, and the agent gets the
 * ends.
 *
 * Everything an agent sends is taken for hostile: requests are bounded in number and in rate, and
 * what they contain chooses nothing but the answer's number.
 */
#ifndef STEPBOX_RUNNER_JOBS_H
#define STEPBOX_RUNNER_JOBS_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control_message.h"
#include "zygote_job.h"

struct runner_jobs;
struct zygotes;

typedef struct runner_jobs_config {
    struct ev_loop *loop;
    struct zygotes *zygotes;
    uint64_t *zygote_number; /* of the sandbox, see zygotes_take() */
    /* The sandbox's pidfd of process 1, or -1; stays the callee's. */
    int (*init_fd)(void *user);
    /* Sends an answer to the agent; its descriptors are taken. */
    void (*answer)(control_message *message, void *user);
    /* Opens what a process of the sandbox joins its control groups by (taken): how many, or -1 with
     * errno. */
    int (*groups)(int fds[JOB_GROUPS_MAX], void *user);
    /* A listener of the filter of a runner (taken). */
    void (*listener)(int fd, void *user);
    int filter_fd;            /* of the program */
    uint64_t processes;       /* that `user` may have */
    uint64_t data, most_data; /* RLIMIT_DATA, soft and hard */
    void *user;
} runner_jobs_config;

/* Of one sandbox. NULL when out of memory. */
struct runner_jobs *runner_jobs_new(const runner_jobs_config *config);
/* Those under way come to nothing. */
void runner_jobs_free(struct runner_jobs *jobs);

/* A message of the agent; false, and untouched, when it is none of this kind. */
bool runner_jobs_take(struct runner_jobs *jobs, control_message *message);

/* {"forked": N, "refused": N}: requests and what came of them; NULL when out of memory. */
json_t *runner_jobs_describe(const struct runner_jobs *jobs);

#endif
