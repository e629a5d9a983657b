/*
 * network.h - the network of a sandbox: nothing but loopback, or a link to the outside that
 * stepbox-egress holds and a firewall guards.
 */
#ifndef STEPBOX_NETWORK_H
#define STEPBOX_NETWORK_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "network_config.h"

struct network;

typedef struct network_owner {
    struct ev_loop *loop;
    const char *id; /* of the sandbox, for messages */
    uid_t uid;      /* the host user that owns its namespaces; 0: our own */
    gid_t gid;
    struct sandbox_log *log;
} network_owner;

/* Says why sandboxes cannot have a network on this host, and what to install: 0 when they can. */
int network_available(char *message, size_t room);

/* {"available": true} or false, with "why". A new reference. */
json_t *network_host_describe(void);

/* One without a link. NULL when out of memory. */
struct network *network_new(const network_owner *owner);
/* Ends the link. Whoever waits is told that the sandbox has ended. */
void network_stop(struct network *network);
/* The same, and frees; NULL is allowed. */
void network_free(struct network *network);

/* Called once: error NULL when what was asked for is in force. */
typedef void network_done(const char *error, void *user);

/* Puts a configuration (taken) in force for the sandbox whose PID 1 is the process; `pidfd` is of
 * it, and borrowed. `done` is called later, or at once when there is nothing to do. */
void network_apply(struct network *network, network_config *config, pid_t init, int pidfd,
                   network_done *done, void *user);

/* Whether the process is one of its own. */
bool network_is_process(const struct network *network, pid_t pid);

/* Adds what was asked for to a sandbox's description: "allowInternetAccess" and "network", without
 * what is secret. */
void network_describe_config(const struct network *network, json_t *detail);
/* How it goes: {"link": "up"|"down"|"none", ...}. A new reference. */
json_t *network_describe(const struct network *network);

#endif
