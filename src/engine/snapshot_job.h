/*
 * snapshot_job.h - the taking of a snapshot: the sandbox stands still, its files are packed, and it
 * goes on.
 */
#ifndef STEPBOX_SNAPSHOT_JOB_H
#define STEPBOX_SNAPSHOT_JOB_H

#include "engine.h"
#include "snapshots.h"

/* Called once. snapshot NULL: an HTTP status and why not. */
typedef void snapshot_taken(struct snapshot *snapshot, int status, const char *message, void *user);

/* name: NULL for a random one; copied. 0 and taken is called later; or an HTTP status and a
 * message, and it is not. */
int snapshot_take(struct engine *engine, struct sandbox *sandbox, const char *name,
                  snapshot_taken *taken, void *user, char *message, size_t room);

#endif
