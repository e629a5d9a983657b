/*
 * stepbox_life.h - boxes that stand still for a while. A part of stepbox.h, which includes it.
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

#ifdef __cplusplus
}
#endif

#endif
