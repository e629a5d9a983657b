/*
 * engine.h - the running engine: its loop, its sandboxes, its connections.
 */
#ifndef STEPBOX_ENGINE_H
#define STEPBOX_ENGINE_H

#include <ev.h>

#include "cgroups.h"
#include "engine_config.h"
#include "gateway.h"
#include "engine_options.h"
#include "idempotency.h"
#include "sandbox.h"
#include "sandbox_record.h"
#include "snapshots.h"
#include "socket_claim.h"

struct payload;

struct engine {
    struct ev_loop *loop;
    const struct options *options;
    struct host_facts host;
    struct engine_config config;
    struct syscall_filter *filter;
    struct cgroups *cgroups;
    struct sandboxes *sandboxes;
    struct idempotency *idempotency;
    struct snapshots *snapshots;
    struct gateway *gateway;
    bool stopping; /* it takes no more requests to make or change something */
    const struct payload *payload;
    const char *socket; /* NULL without a unix socket */
    int64_t started_at; /* wall clock, milliseconds since 1970 */
};

/* Serves until it is told to stop, or has been idle for long enough. claim: the unix socket, or
 * NULL; tcp_fd: the listening TCP socket, or -1; report_fd: for report_ready() and report_error(),
 * or -1. Returns the exit status. */
int engine_run(const struct options *options, struct socket_claim *claim, int tcp_fd,
               int report_fd);

/* Has the engine leave: it gives its socket up at once, ends its sandboxes, and is gone when the
 * answer that is under way was sent. */
void engine_leave(struct engine *engine);

#endif
