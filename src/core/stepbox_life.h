/*
 * stepbox_life.h - boxes that stand still for a while, and snapshots of their files. A part of
 * stepbox.h, which includes it.
 */
#ifndef STEPBOX_LIFE_H
#define STEPBOX_LIFE_H

#include "stepbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Has everything in the sandbox stand still; its life does not go on meanwhile. sb_op_flag(): false
 * when it was paused already. */
SB_API sb_op *sb_box_pause(sb_box *box, sb_error *err);

/* Lets a paused sandbox go on, to live so many seconds from then (0: 300); one that runs lives at
 * least as long (0: as it would). sb_op_flag(): true when it was paused. */
SB_API sb_op *sb_box_resume(sb_box *box, double timeout, sb_error *err);

/* Keeps the sandbox's files as they are: sb_op_json() is {"snapshotID", "names"}, and the id is a
 * template_id for sb_create(). name: one that is known replaces what had it; NULL: none. The local
 * engine keeps snapshots as long as it runs. */
SB_API sb_op *sb_box_snapshot(sb_box *box, const char *name, sb_error *err);

/* All snapshots, or those of one sandbox (NULL: all), the newest first; 10,000 at most:
 * sb_op_json() is a list of what sb_box_snapshot() gives. */
SB_API sb_op *sb_snapshots(sb_client *client, const char *sandbox, sb_error *err);

/* SB_NOT_FOUND when there is none. */
SB_API sb_op *sb_delete_snapshot(sb_client *client, const char *id, sb_error *err);

#ifdef __cplusplus
}
#endif

#endif
