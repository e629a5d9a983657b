/*
 * zygote_job.h - what the engine tells a zygote, and what a new runner tells the engine.
 *
 * A job is one datagram with its descriptors in the order below. The runner that comes of it says
 * so on the job's own socket, with the listener of its filter: it is in place then, and has given
 * up all rights. End of file before that means that nothing came of the job.
 */
#ifndef STEPBOX_ZYGOTE_JOB_H
#define STEPBOX_ZYGOTE_JOB_H

#include <stdint.h>

enum zygote_job_fd {
    JOB_INIT,    /* pidfd of the sandbox's process 1 */
    JOB_REPORT,  /* SOCK_SEQPACKET */
    JOB_CHANNEL, /* the runner's end of its channel */
    JOB_OUT,     /* what becomes 1 and 2 */
    JOB_ERR,
    JOB_FILTER,         /* a BPF program */
    JOB_FDS,            /* these are always there */
    JOB_GROUPS_MAX = 6, /* of control groups to join, behind them */
    JOB_FDS_MAX = JOB_FDS + JOB_GROUPS_MAX
};

struct zygote_job {
    uint32_t uid, gid;        /* in the sandbox */
    uint64_t processes;       /* that the user may have */
    uint64_t data, most_data; /* RLIMIT_DATA, soft and hard */
    uint32_t groups;          /* how many descriptors of control groups there are */
};

/* Where a start can fail. */
enum zygote_stage {
    STAGE_READY, /* nothing failed; the listener comes with it where the kernel has given one */
    STAGE_GROUPS,
    STAGE_NAMESPACES,
    STAGE_FORK,
    STAGE_DESCRIPTORS,
    STAGE_LIMITS,
    STAGE_PRIVILEGES,
    STAGE_FILTER,
    STAGES
};

struct zygote_report {
    int32_t stage;
    int32_t error; /* errno */
};

/* The zygote itself sends this once, when it can take jobs. */
#define ZYGOTE_READY 'r'

/* Its exit status when it can never be: there is no IPython, or the host is not made for it. */
#define ZYGOTE_NEVER 3

/* Descriptors of the zygote's process when it starts. Its script's number and argv are chosen so
 * that the command line is as long as that of a runner which was not forked (see zygote_start.c).
 */
enum zygote_fd { ZYGOTE_FD_SCRIPT = 3, ZYGOTE_FD_JOBS, ZYGOTE_FD_LIBRARY, ZYGOTE_FD_FILES };

#endif
