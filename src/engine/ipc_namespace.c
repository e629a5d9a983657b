#include "ipc_namespace.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "text_file.h"

/* Files may take three quarters of the memory (sandbox_limits.c): this leaves the agent a part. */
#define SEGMENTS_SHARE 8
/* Linux's own defaults until 3.19, which programs have lived with: for each set 250 semaphores,
 * 32,000 in all, 32 operations at once, 128 sets. They are 2 MB at most. */
#define SEMAPHORES "250 32000 32 128"
/* Each keeps up to 16,384 messages of 64 bytes in the kernel. */
#define QUEUES "4"

int ipc_namespace_enter(int64_t memory) {
    char pages[32];
    if (unshare(CLONE_NEWIPC) < 0)
        return -1;
    snprintf(pages, sizeof pages, "%lld",
             (long long)(memory / SEGMENTS_SHARE / sysconf(_SC_PAGESIZE)));
    text_file_write("/proc/sys/kernel/shmall", pages);
    text_file_write("/proc/sys/kernel/sem", SEMAPHORES);
    text_file_write("/proc/sys/kernel/msgmni", QUEUES);
    return 0;
}
