#include "spawn_limits.h"

#include "privileges.h"
#include "text_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit processes; /* as the engine has set it */

static rlim_t runner_data, program_data; /* 0: none */

void spawn_limits_of_data(int64_t runners, int64_t programs) {
    runner_data = (rlim_t)runners;
    program_data = (rlim_t)programs;
}

int64_t spawn_limits_runner_data(void) {
    return (int64_t)runner_data;
}

void spawn_limits_raise(void) {
    if (getrlimit(RLIMIT_NPROC, &processes))
        return;
    struct rlimit raised = {.rlim_cur = processes.rlim_max, .rlim_max = processes.rlim_max};
    setrlimit(RLIMIT_NPROC, &raised);
}

void spawn_offer_to_kernel(void) {
    /* The file of a process that is not dumpable, as the agent is, belongs to root. Where there is
     * no root the size of a process decides, and the agent is small. */
    agent_user before = privileges_acting();
    privileges_act_as(AGENT_ROOT);
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    privileges_act_as(before);
    text_file_write_to(fd, "1000");
}

void spawn_limits_lower(bool runner) {
    struct rlimit limit = processes;
    if (limit.rlim_max) {
        limit.rlim_max = limit.rlim_cur;
        setrlimit(RLIMIT_NPROC, &limit);
    }
    if (getrlimit(RLIMIT_DATA, &limit) < 0)
        return;
    if (program_data && program_data < limit.rlim_max)
        limit.rlim_max = program_data;
    limit.rlim_cur = limit.rlim_max;
    if (runner && runner_data && runner_data < limit.rlim_max)
        limit.rlim_cur = runner_data;
    setrlimit(RLIMIT_DATA, &limit);
}
