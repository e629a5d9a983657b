#include "sandbox_rlimits.h"

#include <sys/resource.h>

/* Open files a process may have at first: programs loop over as many. */
#define SOFT_OPEN_FILES 4096

/* Timers take one each. */
#define PENDING_SIGNALS 4096
/* Two queues of the usual size. */
#define MESSAGE_BYTES (200 * 1024)

static void limit(int resource, rlim_t soft, rlim_t hard) {
    struct rlimit now;
    if (getrlimit(resource, &now) < 0)
        return;
    if (now.rlim_max < hard)
        hard = now.rlim_max;
    now = (struct rlimit){soft < hard ? soft : hard, hard};
    setrlimit(resource, &now);
}

/* Descriptors that are sent and not received yet count against the user who sent them, and a
 * process with a limit that they have reached sends no more. Without ids of their own sandboxes are
 * the engine's user, who must always be able to hand them connections: they get half of what it
 * has. */
rlim_t sandbox_rlimits_open_files(const struct limits *limits) {
    struct rlimit now;
    rlim_t wanted = (rlim_t)limits->open_files;
    if (getrlimit(RLIMIT_NOFILE, &now) < 0 || now.rlim_max / 2 > wanted)
        return wanted;
    return now.rlim_max / 2;
}

void sandbox_rlimits_apply(const struct limits *limits) {
    rlim_t processes = (rlim_t)limits->processes;
    /* With 0 a crash is written to no file, but the host's handler of crashes is run (core_pattern
     * with a "|"), as root of the host; with 1 it is not. */
    limit(RLIMIT_CORE, 1, 1);
    /* Counted once more for the owner of the user namespaces, who is one for many sandboxes: a part
     * of what that one may have (about 4 per megabyte of the host, and 800 KB). */
    limit(RLIMIT_SIGPENDING, PENDING_SIGNALS, PENDING_SIGNALS);
    limit(RLIMIT_MSGQUEUE, MESSAGE_BYTES, MESSAGE_BYTES);
    limit(RLIMIT_NOFILE, SOFT_OPEN_FILES, sandbox_rlimits_open_files(limits));
    /* Programs get the soft limit; what is above it the agent keeps for itself. */
    limit(RLIMIT_NPROC, processes, processes + LIMITS_OWN_PROCESSES);
}

int64_t sandbox_runner_data(const struct limits *limits, bool alone) {
    return alone ? limits->memory : limits->memory - limits->memory / 8;
}
