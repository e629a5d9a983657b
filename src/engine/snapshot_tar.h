/*
 * snapshot_tar.h - the files of a sandbox as an archive, and back: by the host's `tar`, which runs
 * as root of the sandbox's user namespace, and reads and writes the sandbox's file system from
 * outside, all of its layers.
 *
 * The engine itself looks at no byte of an archive. What is in it: all that the sandbox may write,
 * but /run, /dev/shm and what the engine puts there anew.
 */
#ifndef STEPBOX_SNAPSHOT_TAR_H
#define STEPBOX_SNAPSHOT_TAR_H

#include <stdint.h>
#include <sys/types.h>

#include "id_space.h"

/* Starts packing the file system of a sandbox whose bubblewrap is the process behind pidfd, into
 * archive_fd, of at most so many bytes. What `tar` says goes to errors_fd. The child, or -1 with
 * errno. */
pid_t snapshot_tar_pack(int pidfd, const struct sandbox_ids *ids, int archive_fd, uint64_t most,
                        int errors_fd);

/* For the process that becomes a sandbox, before its layers are mounted: unpacks below the stage.
 * What fails is said on stderr. 0, or -1. */
int snapshot_tar_unpack(const char *stage, int archive_fd);

#endif
