/*
 * zygote.h - the C half of a zygote: everything between a job and a runner that runs.
 *
 * A zygote is a Python process outside of all sandboxes that has imported what a runner needs, and
 * runs nobody's code. Its Python half (zygote.py among the runners) loads this library and calls
 * zygote_serve(). From the arrival of a job on no Python code runs, nothing is imported and no path
 * is opened, until the new process is inside the sandbox and has given up all rights.
 */
#ifndef STEPBOX_ZYGOTE_H
#define STEPBOX_ZYGOTE_H

#include <stdbool.h>

#include "zygote_job.h"

/* Calls of the interpreter around a fork, given by the Python half. */
typedef void (*zygote_hook)(void);

/* Once, before anything else: takes care that nobody looks into this process, that it does not
 * outlive the engine, and that it is named. 0, or -1 with errno. */
int zygote_prepare(void);

/* Says that jobs can be taken, and takes them. Returns in each new runner, with its channel; the
 * zygote itself never returns. */
int zygote_serve(int jobs_fd, zygote_hook before_fork, zygote_hook after_in_parent,
                 zygote_hook after_in_child);

/* Joins the control groups and enters the namespaces of the job's sandbox, and forks a child of its
 * process 1 there. Returns in that child only, still with all rights over the sandbox. */
void enter_sandbox(const struct zygote_job *job, const int fds[JOB_FDS_MAX]);

/* Becomes what a runner is: in a session of its own, with the sandbox's limits, without rights, and
 * with no descriptors but 0, 1, 2 and the channel, which it returns. Ends the process on failure.
 */
int become_runner(const struct zygote_job *job, const int fds[JOB_FDS_MAX], int null_fd);

/* Makes the process look like a program that was started the usual way. process_title_find() comes
 * first, in the zygote: -1 when that cannot be. */
int process_title_find(void);
void process_title_set(void);

/* Tells the engine what failed, and ends the process. */
void fail_job(int report_fd, enum zygote_stage stage) __attribute__((noreturn));

#endif
