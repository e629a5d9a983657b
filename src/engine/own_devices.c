#include "own_devices.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of Linux 5.2; the header of Debian 12's libc has them too. */
#ifndef FSOPEN_CLOEXEC
#define FSOPEN_CLOEXEC 1
#endif
#ifndef FSMOUNT_CLOEXEC
#define FSMOUNT_CLOEXEC 1
#endif
#ifndef FSCONFIG_SET_STRING
#define FSCONFIG_SET_STRING 1
#endif
#ifndef FSCONFIG_CMD_CREATE
#define FSCONFIG_CMD_CREATE 6
#endif
#ifndef MOUNT_ATTR_NOSUID
#define MOUNT_ATTR_NOSUID 2
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 4
#endif

const char *const own_devices_names[] = {"null", "zero", "full", "random", "urandom", "tty", NULL};

static int make_device(int at, const char *name) {
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/dev/%s", name);
    /* The umask takes bits. */
    return stat(path, &st) == 0 && S_ISCHR(st.st_mode) &&
                   mknodat(at, name, S_IFCHR | 0666, st.st_rdev) == 0 &&
                   fchmodat(at, name, 0666, 0) == 0
               ? 0
               : -1;
}

/* Not all who may make devices may open them. */
static int fill(int at) {
    for (const char *const *name = own_devices_names; *name; name++)
        if (make_device(at, *name) < 0)
            return -1;
    int null_fd = openat(at, "null", O_RDWR | O_CLOEXEC);
    return null_fd < 0 ? -1 : close(null_fd);
}

int own_devices_open(void) {
    int mount_fd = -1;
    int context = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
    if (context < 0)
        return -1;
    if (syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "source", "stepbox", 0) == 0 &&
        syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "size", "4k", 0) == 0 &&
        syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "nr_inodes", "16", 0) == 0 &&
        syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "mode", "0755", 0) == 0 &&
        syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mount_fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID);
    close(context);
    if (mount_fd >= 0 && fill(mount_fd) < 0) {
        close(mount_fd);
        return -1;
    }
    return mount_fd;
}

bool own_devices_mount(int fd, const char *target) {
    return fd >= 0 && mkdir(target, 0755) == 0 &&
           syscall(SYS_move_mount, fd, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) == 0;
}
