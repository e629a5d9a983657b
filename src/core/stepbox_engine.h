/*
 * stepbox_engine.h - the local engine itself, and what servers tell of a sandbox's life. A part of
 * stepbox.h, which includes it.
 */
#ifndef STEPBOX_ENGINE_CALLS_H
#define STEPBOX_ENGINE_CALLS_H

#include "stepbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operations here bring the server's answer as one JSON text. NUL-terminated; NULL before the
 * end, after a failure, and for other operations. */
SB_API const char *sb_op_json(const sb_op *op);

/* What the local engine is and does: {"version", "pid", "socket", "startedAt", "sandboxes",
 * "connections", "idleTimeout", "languages"}. may_start: start it when none runs; else SB_NOT_FOUND
 * then. SB_UNSUPPORTED for clients of a server. */
SB_API sb_op *sb_engine_status(sb_client *client, bool may_start, sb_error *err);

/* Has the local engine leave: {"pid", "sandboxes"}. SB_INVALID when sandboxes run in it and they
 * shall not be killed (force). */
SB_API sb_op *sb_engine_stop(sb_client *client, bool force, sb_error *err);

typedef struct sb_logs_options {
    int64_t cursor;     /* milliseconds since 1970: from then on, or backward up to then; 0: none */
    int limit;          /* 1 to 1000; 0: 1000 */
    bool backward;      /* the newest first */
    const char *level;  /* the least grave: "debug", "info", "warn", "error"; NULL: all */
    const char *search; /* text that the message has; NULL: all */
} sb_logs_options;

/* What happened to a sandbox: {"logs": [{"timestamp", "message", "level", "fields"}]}. */
SB_API sb_op *sb_box_logs(sb_box *box, const sb_logs_options *options, sb_error *err);

typedef struct sb_metrics_options {
    int64_t start, end; /* Unix seconds; 0: from the first, or up to the last sample */
} sb_metrics_options;

/* What a sandbox has taken of its host, the oldest sample first: [{"timestampUnix", "cpuCount",
 * "cpuUsedPct", "memUsed", "memTotal", "memCache", "diskUsed", "diskTotal"}]. */
SB_API sb_op *sb_box_metrics(sb_box *box, const sb_metrics_options *options, sb_error *err);

#ifdef __cplusplus
}
#endif

#endif
