/*
 * stepbox_archive.h - directories as tar streams, to send them to a sandbox and to get them back.
 *
 * On libarchive, and in a library of its own (libstepbox-archive), so that who does not move
 * directories does not load it.
 */
#ifndef STEPBOX_ARCHIVE_H
#define STEPBOX_ARCHIVE_H

#include "stepbox.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sb_pack sb_pack;     /* makes one of a local directory */
typedef struct sb_unpack sb_unpack; /* makes a local directory of one */

/* What is in `directory`, by names relative to it and in their order: files, directories and
 * symbolic links with their modes and times; sockets, pipes and devices are left out. No link is
 * followed. A file that changes its size meanwhile is cut, or filled up with zeros. In memory there
 * is one piece of a file, and the names in the directories on the way to it. */
SB_API sb_pack *sb_pack_new(const char *directory, sb_error *err);
/* The next bytes, at most `size`; 0: the end; -1 with err. */
SB_API int64_t sb_pack_read(sb_pack *pack, char *bytes, size_t size, sb_error *err);
SB_API void sb_pack_free(sb_pack *pack);

/* Into `directory`, which is made when it is not there. The stream may be hostile. SB_BAD_PATH:
 * a name that leads out of the directory, one below a symbolic link, a hard link to what is no file
 * in it. Left out are devices and pipes, set-id bits, everybody's leave to write, and owners.
 * Symbolic links are made as they are; what has a name already is replaced, but for directories
 * that are not empty. After a failure what was made before stays. A thread does the work while a
 * call waits; between calls nothing runs. */
SB_API sb_unpack *sb_unpack_new(const char *directory, sb_error *err);
SB_API int sb_unpack_write(sb_unpack *unpack, const char *bytes, size_t length, sb_error *err);
/* Says that the stream has ended: -1 with err when it was not whole. */
SB_API int sb_unpack_end(sb_unpack *unpack, sb_error *err);
SB_API void sb_unpack_free(sb_unpack *unpack);

#ifdef __cplusplus
}
#endif
#endif
