/*
 * bwrap_spawn.h - starts bubblewrap with the agent as PID 1 of a new sandbox.
 */
#ifndef STEPBOX_BWRAP_SPAWN_H
#define STEPBOX_BWRAP_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cgroups.h"
#include "host_isolation.h"
#include "payload.h"
#include "sandbox_limits.h"

typedef struct bwrap_process {
    pid_t pid;      /* of bwrap, our child */
    int control_fd; /* the engine's end of the control socket */
    int status_fd;  /* JSON about the child, then end of file; non-blocking */
    int stderr_fd;  /* what bwrap and the agent write to stderr; non-blocking */
    int go_fd; /* it waits for a byte here before it does anything; closed without one, it ends */
} bwrap_process;

typedef struct bwrap_spec {
    const char *id, *template_id;
    const struct payload *payload;
    const struct limits *limits;
    const char *bwrap;                     /* absolute, or "": found on PATH */
    int join[CGROUP_JOIN_MAX], join_count; /* cgroup_open_join(); not taken */
    int filter_fd;                         /* for the agent: syscall_filter_fd() */
    int snapshot_fd;                       /* what its files are unpacked from; -1: none */
    struct sandbox_ids ids;
    const struct host_isolation *isolation;
} bwrap_spec;

/* Returns at once; whether the sandbox comes up shows on the descriptors. The child dies with the
 * thread that called this. 0, or -1 with message, which is meant for people. */
int bwrap_spawn(bwrap_process *process, const bwrap_spec *spec, char *message, size_t room);

#endif
