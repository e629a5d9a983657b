/* mount_kind.c - see mount_kind.h */
#include "mount_kind.h"

#include <linux/magic.h>
#include <stddef.h>

#define CIFS_MAGIC 0xff534d42U
#define SMB2_MAGIC 0xfe534d42U
#define FUSE_MAGIC 0x65735546U

static bool is_one_of(const struct statfs *mount, const unsigned *kinds, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if ((unsigned)mount->f_type == kinds[i])
            return true;
    }
    return false;
}

bool mount_is_network(const struct statfs *mount) {
    static const unsigned kinds[] = {NFS_SUPER_MAGIC, CIFS_MAGIC, SMB_SUPER_MAGIC, SMB2_MAGIC,
                                     FUSE_MAGIC};
    return is_one_of(mount, kinds, sizeof kinds / sizeof *kinds);
}

bool mount_is_kernel(const struct statfs *mount) {
    static const unsigned kinds[] = {PROC_SUPER_MAGIC,    SYSFS_MAGIC,   CGROUP_SUPER_MAGIC,
                                     CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC};
    return is_one_of(mount, kinds, sizeof kinds / sizeof *kinds);
}
