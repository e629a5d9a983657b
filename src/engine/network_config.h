/*
 * network_config.h - what the network of a sandbox is asked to be: E2B's allow_internet_access and
 * network, checked and kept.
 */
#ifndef STEPBOX_NETWORK_CONFIG_H
#define STEPBOX_NETWORK_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "fields.h"

/* For tables of fields: the parts of SandboxNetworkConfig, and all of it. */
field_check network_field, network_allow_field, network_deny_field, network_proxy_field,
    network_rules_field;

typedef struct network_config {
    bool internet_set, internet; /* what allow_internet_access said */
    json_t *allow, *deny;        /* arrays of checked strings; never NULL */
    json_t *proxy;               /* a checked object, or NULL */
} network_config;

/* Reads checked values: allow_internet_access, and an object with allowOut, denyOut, egressProxy
 * (or NULL). 0, or -1 with a message about fields that do not fit each other, or when out of
 * memory. */
int network_config_read(network_config *config, json_t *internet, json_t *network, char *message,
                        size_t room);
void network_config_free(network_config *config);

/* Whether it was read: one of zeros was not. */
bool network_config_is_set(const network_config *config);
/* Whether anything outside the sandbox can be reached with it: else it needs no link. */
bool network_config_opens(const network_config *config);
/* Whether everything is denied that is not allowed. */
bool network_config_denies_all(const network_config *config);
/* How many of the allowed are names. */
size_t network_config_names(const network_config *config);

#endif
