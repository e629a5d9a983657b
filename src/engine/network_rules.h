/*
 * network_rules.h - from what was asked for to what stepbox-egress is told.
 */
#ifndef STEPBOX_NETWORK_RULES_H
#define STEPBOX_NETWORK_RULES_H

#include "network_config.h"

/* The whole message, {"rules": ..., "policy": ...}: free() it. NULL when out of memory. `host` is
 * an array of the host's own addresses as text. */
char *network_rules_message(const network_config *config, json_t *host);

/* The ruleset alone. */
char *network_rules_text(const network_config *config, json_t *host);

/* A new array of the addresses that this host has now; NULL when out of memory. */
json_t *network_rules_host_addresses(void);

#endif
