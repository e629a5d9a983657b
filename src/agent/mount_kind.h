/* mount_kind.h - file systems that are no ordinary ones. */
#ifndef STEPBOX_MOUNT_KIND_H
#define STEPBOX_MOUNT_KIND_H

#include <stdbool.h>
#include <sys/vfs.h>

/* NFS, SMB or FUSE: changes that others make there may go unnoticed. */
bool mount_is_network(const struct statfs *mount);
/* Made up by the kernel, as /proc and /sys: of processes and devices, not of files. */
bool mount_is_kernel(const struct statfs *mount);

#endif
