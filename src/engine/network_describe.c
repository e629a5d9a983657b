/* network_describe.c - what this host can give, and how the network of a sandbox is and goes. */
#include "network_internal.h"

#include <limits.h>
#include <stdio.h>

#include "program_path.h"

int network_available(char *message, size_t room) {
    char path[PATH_MAX];
    if (!program_path_find("pasta", path) && !program_path_find("slirp4netns", path))
        snprintf(
            message, room,
            "sandboxes cannot have internet access on this host: install the package \"passt\" "
            "(or \"slirp4netns\")");
    else if (!program_path_find("nft", path))
        snprintf(message, room,
                 "sandboxes cannot have internet access on this host: install the package "
                 "\"nftables\"");
    else
        return 0;
    return -1;
}

json_t *network_host_describe(void) {
    char message[256];
    bool available = network_available(message, sizeof message) == 0;
    json_t *object = json_pack("{s:b}", "available", available);
    if (!available)
        json_object_set_new(object, "why", json_string(message));
    return object;
}

static void describe_lists(const network_config *config, json_t *object) {
    json_object_set(object, "allowOut", config->allow); /* without one: not set */
    json_object_set(object, "denyOut", config->deny);
    /* Neither user nor password: others may ask. */
    if (config->proxy)
        json_object_set_new(
            object, "egressProxy",
            json_pack("{s:O}", "address", json_object_get(config->proxy, "address")));
}

void network_describe_config(const struct network *network, json_t *detail) {
    const network_config *config = &network->config;
    json_object_set_new(detail, "allowInternetAccess",
                        config->internet_set ? json_boolean(config->internet) : json_null());
    if (json_array_size(config->allow) + json_array_size(config->deny) == 0 && !config->proxy)
        return;
    json_t *object = json_object();
    describe_lists(config, object);
    json_object_set_new(detail, "network", object);
}

json_t *network_describe(const struct network *network) {
    const char *link = !network || network->pidfd < 0 ? "none" : network->up ? "up" : "down";
    json_t *object = json_pack("{s:s}", "link", link);
    if (network) {
        const network_config *config = &network->config;
        const char *access = !network_config_opens(config)       ? "none"
                             : network_config_denies_all(config) ? "allowed"
                                                                 : "internet";
        json_object_set_new(object, "access", json_string(access));
        describe_lists(config, object);
    }
    if (network && network->pidfd >= 0)
        json_object_set_new(object, "restarts", json_integer((json_int_t)network->restarts));
    if (network && network->error[0] && !network->up)
        json_object_set_new(object, "error", json_string(network->error));
    return object;
}
