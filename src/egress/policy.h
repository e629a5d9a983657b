/*
 * policy.h - what a sandbox may reach by name, and how. The firewall's rules decide about
 * addresses; what they lead to stepbox-egress is decided with this.
 */
#ifndef STEPBOX_POLICY_H
#define STEPBOX_POLICY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "net_ranges.h"

typedef enum policy_names {
    NAMES_NONE,   /* no name is known */
    NAMES_LISTED, /* those of the list; connections are checked for them */
    NAMES_ALL     /* the host's resolvers answer */
} policy_names;

/* Does not change after it was made; several threads hold it. */
struct policy {
    int holders;
    policy_names names;
    const char **listed; /* "example.com", "*.example.com"; lower case; NULL at the end */
    net_range *open;     /* addresses and ranges that are allowed, private ones with them */
    size_t open_count;
    const char *proxy_host; /* SOCKS5, or NULL */
    const char *proxy_port, *proxy_user, *proxy_password;
    json_t *source; /* owns the strings */
};

/* {"names": "none"|"listed"|"all", "listed": [...], "open": [...], "proxy": {"host", "port",
 * "user", "password"} or null}, as the engine writes it. NULL when it is not so, or out of memory.
 */
struct policy *policy_read(json_t *source);

/* Whether a name, in lower case, is listed. */
bool policy_lists(const struct policy *policy, const char *name);
/* Whether an address is allowed as such. */
bool policy_allows(const struct policy *policy, const struct sockaddr *address);
/* Whether a resolved address may be connected to: a public one, or one in a private range of which
 * that part is allowed. */
bool policy_opens(const struct policy *policy, const struct sockaddr *address);

/* The one in force; set it before anything else. It takes the reference. */
void policy_set(struct policy *policy);
struct policy *policy_get(void);
void policy_release(struct policy *policy);

#endif
