/*
 * own_devices.h - the devices of a sandbox, as files of its own. Locks on a file and watches on it
 * are one for all who have it: those of the host's /dev/null tell when anybody opens it.
 */
#ifndef STEPBOX_OWN_DEVICES_H
#define STEPBOX_OWN_DEVICES_H

#include <stdbool.h>

/* Those that bubblewrap puts into /dev; NULL at the end. */
extern const char *const own_devices_names[];

/* For the host's root: a file system that has them, not mounted anywhere yet; -1 where the kernel
 * cannot, or lets nobody make devices. */
int own_devices_open(void);

/* Mounts it on a new directory. For root of the sandbox's user namespace, in a mount namespace of
 * its own. Whether it could. */
bool own_devices_mount(int fd, const char *target);

#endif
