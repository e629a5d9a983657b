/*
 * runner.h - the process that keeps a context's state: its channel, its output, its end.
 *
 * The runner speaks lines of JSON on a socket (see channel messages below); what the code writes
 * comes over two pipes. Both pipes are read as empty as they were before any message is passed on,
 * so that order is kept. How the process comes to be is this file's secret.
 */
#ifndef STEPBOX_RUNNER_H
#define STEPBOX_RUNNER_H

#include "language.h"

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest message taken: results may carry images. */
#define RUNNER_LINE_MAX ((size_t)64 * 1024 * 1024)

struct runner;
struct runner_source;

typedef struct runner_options {
    const struct language *language;
    const char *runners; /* the directory */
    const char *cwd;     /* when it cannot be entered, `home` is taken */
    const char *home;
    const json_t *envs;
    struct runner_source *source; /* of forked ones; NULL: the program is always started */
} runner_options;

/* Any of them may call any runner_...() function, runner_free() too. */
typedef struct runner_events {
    /* Bytes the code wrote; stream is OUTPUT_STDOUT or OUTPUT_STDERR. */
    void (*output)(void *user, int stream, const char *bytes, size_t length);
    /* A message but "drain": a line, without its newline, that is one JSON object in ASCII. */
    void (*message)(void *user, const char *type, const char *line, size_t length);
    /* It has ended, and all it wrote has been passed on. Once; runner_free() is still to be called.
     */
    void (*ended)(void *user);
} runner_events;

/* NULL with errno when it cannot be started. */
struct runner *runner_start(struct ev_loop *loop, const runner_options *options,
                            const runner_events *events, void *user);
/* Whether a runner that has ended was killed (SIGKILL): by the kernel, for want of memory, by code,
 * or by us. */
bool runner_was_killed(const struct runner *runner);
/* Kills what is left of it, and everything it started. */
void runner_free(struct runner *runner);

/* Sends code to run, with environment variables (or NULL) for it alone. What was written since the
 * last step is thrown away first. 0, or -1 when out of memory. */
int runner_run(struct runner *runner, const json_t *code, const json_t *envs);
void runner_interrupt(struct runner *runner);
/* While held, nothing is read from it: code that writes will wait. */
void runner_hold(struct runner *runner, bool hold);

#endif
