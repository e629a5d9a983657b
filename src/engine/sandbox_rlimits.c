#include "sandbox_rlimits.h"

#include <sys/resource.h>

/* Open files a process may have at first: programs loop over as many. */
#define SOFT_OPEN_FILES 4096

static void limit(int resource, rlim_t soft, rlim_t hard) {
    struct rlimit now;
    if (getrlimit(resource, &now) < 0)
        return;
    if (now.rlim_max < hard)
        hard = now.rlim_max;
    now = (struct rlimit){soft < hard ? soft : hard, hard};
    setrlimit(resource, &now);
}

void sandbox_rlimits_apply(const struct limits *limits, bool alone) {
    rlim_t processes = (rlim_t)limits->processes;
    rlim_t memory = (rlim_t)limits->memory;
    /* With 0 a crash is written to no file, but the host's handler of crashes is run (core_pattern
     * with a "|"), as root of the host; with 1 it is not. */
    limit(RLIMIT_CORE, 1, 1);
    limit(RLIMIT_NOFILE, SOFT_OPEN_FILES, (rlim_t)limits->open_files);
    /* Programs get the soft limit; what is above it the agent keeps for itself. */
    limit(RLIMIT_NPROC, processes, processes + LIMITS_OWN_PROCESSES);
    /* What a process may write to of its own, which is closer to what it uses than its address
     * space: Java and JavaScript reserve much more of that than they ever use. Within a control
     * group this is only what comes first, and leaves room for the sandbox's other processes and
     * files. */
    if (alone)
        limit(RLIMIT_DATA, memory, memory);
    else
        limit(RLIMIT_DATA, memory - memory / 8, RLIM_INFINITY);
}
