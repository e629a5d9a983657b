/*
 * ipc_namespace.h - the System V objects of a sandbox, and how many of them there may be.
 *
 * They stay when the processes that made them are gone. Where they take all of the sandbox's
 * memory, ending its processes gives none back, and the kernel has nobody left to end but the
 * agent.
 */
#ifndef STEPBOX_IPC_NAMESPACE_H
#define STEPBOX_IPC_NAMESPACE_H

#include <stdint.h>

/* The caller, root of the sandbox's user namespace, enters a new namespace of such objects, bounded
 * for a sandbox with that many bytes of memory. Kernels before Linux 6.9 let only the host's root
 * set the bounds: they are left as they are there. 0, or -1 with errno. */
int ipc_namespace_enter(int64_t memory);

#endif
