/*
 * host_isolation.h - how well this host lets sandboxes be kept apart, found by trying once.
 */
#ifndef STEPBOX_HOST_ISOLATION_H
#define STEPBOX_HOST_ISOLATION_H

#include <jansson.h>
#include <stdbool.h>

#include "id_space.h"
#include "sandbox_root.h"

struct host_isolation {
    struct id_space ids;
    bool impossible;         /* we are root, and there is no unprivileged user to become */
    enum system_tree tree;   /* the most that works here */
    struct local_tree local; /* where it is writable */
};

/* Takes some milliseconds. `bwrap` as in the options. */
void host_isolation_find(struct host_isolation *isolation);
void host_isolation_free(struct host_isolation *isolation);

/* {"ids": "range" or "single", "systemTree": "writable", "local" or "readonly"} and, with single,
 * "why". */
json_t *host_isolation_describe(const struct host_isolation *isolation);

#endif
