/*
 * own_root.h - a root directory with nothing in it but what the resolution of names reads.
 */
#ifndef STEPBOX_OWN_ROOT_H
#define STEPBOX_OWN_ROOT_H

/* For a process with a mount namespace of its own and the right to mount in it. The host's /etc,
 * libraries and the directory of its resolv.conf stay, as they are and as they change; all else is
 * gone from its sight. 0, or -1 with errno. */
int own_root_enter(void);

#endif
