/*
 * kernel_settings.h - what covers /proc/sys of a sandbox: the same files, to be read alone. Those
 * of its own namespaces would be root's to change, and they bound the sandbox.
 *
 * They are not the host's: locks on a file, watches and times of access are one for all who have it
 * from the same mounted /proc, and tell what the host and other sandboxes do.
 */
#ifndef STEPBOX_KERNEL_SETTINGS_H
#define STEPBOX_KERNEL_SETTINGS_H

/* The caller, root of the sandbox's user namespace and in a mount namespace of its own, mounts a
 * /proc there that nobody else has and that has no process. 0, or -1 with errno. */
int kernel_settings_mount(const char *target);

#endif
