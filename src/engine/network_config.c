#include "network_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net_ranges.h"

#define MAX_ENTRIES 256
#define MAX_NAME 253
#define MAX_CREDENTIAL 255

static bool is_label(const char *label, size_t length) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return length > 0 && length <= 63 && strspn(label, letters) >= length && label[0] != '-' &&
           label[length - 1] != '-';
}

/* "127.1", "0x7f.1" and "2130706433" are addresses to many programs: no name ends like that. */
static bool ends_in_number(const char *last) {
    return strspn(last, "0123456789") == strlen(last) ||
           (last[0] == '0' && (last[1] == 'x' || last[1] == 'X'));
}

/* "example.com", or "*.example.com". */
static bool is_name(const char *text) {
    if (strncmp(text, "*.", 2) == 0)
        text += 2;
    if (strlen(text) > MAX_NAME || !strchr(text, '.'))
        return false;
    const char *label = text;
    for (;;) {
        size_t length = strcspn(label, ".");
        if (!is_label(label, length))
            return false;
        if (label[length] == '\0')
            return !ends_in_number(label);
        label += length + 1;
    }
}

/* One entry of a list; says in `why` what it is not. */
static bool is_entry(const char *text, bool names, char *why, size_t room) {
    net_range range;
    if (net_range_parse(text, &range)) {
        if (!names || !net_range_within(&range, NET_NEVER))
            return true;
        snprintf(why, room,
                 "can be reached by no sandbox (loopback, link-local, metadata, reserved "
                 "or embedding another address)");
        return false;
    }
    if (names && is_name(text))
        return true;
    snprintf(why, room,
             "is neither an address like \"192.0.2.7\" or \"2001:db8::7\" nor a range like "
             "\"192.0.2.0/24\"%s",
             names ? " nor a name like \"example.com\" or \"*.example.com\""
                   : "; names cannot be denied");
    return false;
}

static bool is_list(json_t *value, bool names, char *why, size_t room) {
    snprintf(why, room, "must be an array of %d strings at most", MAX_ENTRIES);
    if (!json_is_array(value) || json_array_size(value) > MAX_ENTRIES)
        return false;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *text = json_string_value(json_array_get(value, i));
        char reason[192];
        if (!text)
            snprintf(why, room, "must be an array of strings: entry %zu is none", i + 1);
        else if (is_entry(text, names, reason, sizeof reason))
            continue;
        else
            snprintf(why, room, "has the entry \"%.60s\", which %s", text, reason);
        return false;
    }
    return true;
}

bool network_allow_field(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    return is_list(value, true, why, room);
}

bool network_deny_field(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    return is_list(value, false, why, room);
}

bool network_rules_field(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    snprintf(why, room, "is not supported by this engine: it must be empty or absent");
    return json_is_object(value) && json_object_size(value) == 0;
}

/* "proxy.example.com:1080", "192.0.2.7:1080", "[2001:db8::7]:1080". */
static bool is_host_and_port(const char *text) {
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    char host[MAX_NAME + 3];
    net_range range;
    if (length == 0 || length >= sizeof host || strlen(colon + 1) > 5 ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return false;
    int port = atoi(colon + 1);
    memcpy(host, text, length);
    host[length] = '\0';
    if (port < 1 || port > 65535 || strchr(host, '/') || strchr(host, '*'))
        return false;
    if (host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        return net_range_parse(host + 1, &range) && range.family == AF_INET6;
    }
    return is_name(host) || is_label(host, length) ||
           (net_range_parse(host, &range) && range.family == AF_INET);
}

bool network_proxy_field(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule;
    const char *key, *address = json_string_value(json_object_get(value, "address"));
    json_t *item;
    json_object_foreach(value, key, item) {
        bool known = strcmp(key, "address") == 0 || strcmp(key, "username") == 0 ||
                     strcmp(key, "password") == 0;
        if (known && json_is_string(item) && json_string_length(item) <= MAX_CREDENTIAL &&
            strlen(json_string_value(item)) == json_string_length(item))
            continue;
        snprintf(why, room,
                 known ? "has \"%.40s\", which must be a string of at most 255 bytes"
                       : "has the unknown field \"%.40s\"",
                 key);
        return false;
    }
    snprintf(
        why, room,
        "must be an object with the \"address\" (HOST:PORT) of a SOCKS5 proxy, and \"username\" "
        "and \"password\" or neither");
    return json_is_object(value) && address && is_host_and_port(address) &&
           (json_object_get(value, "username") != NULL) ==
               (json_object_get(value, "password") != NULL);
}

static bool mask_field(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    (void)rule, (void)value;
    snprintf(why, room, "is not supported by this engine: it must be absent");
    return false;
}

bool network_field(const struct field_rule *rule, json_t *value, char *why, size_t room) {
    static const struct field_rule parts[] = {FIELD("allowOut", network_allow_field),
                                              FIELD("denyOut", network_deny_field),
                                              FIELD("egressProxy", network_proxy_field),
                                              FIELD("rules", network_rules_field),
                                              FIELD("maskRequestHost", mask_field),
                                              FIELD("allowPublicTraffic", field_boolean),
                                              FIELD(NULL, NULL)};
    (void)rule;
    if (!json_is_object(value)) {
        snprintf(why, room, "must be an object");
        return false;
    }
    char message[400];
    if (fields_check(value, parts, message, sizeof message))
        return true;
    snprintf(why, room, "is wrong: %s", message);
    return false;
}

/* An array of its own, empty when there is none; names in lower case. */
static json_t *copy_list(json_t *list) {
    json_t *copy = json_array();
    for (size_t i = 0; copy && i < json_array_size(list); i++) {
        char text[MAX_NAME + 3];
        snprintf(text, sizeof text, "%s", json_string_value(json_array_get(list, i)));
        for (char *c = text; *c; c++)
            if (*c >= 'A' && *c <= 'Z')
                *c = (char)(*c - 'A' + 'a');
        json_array_append_new(copy, json_string(text));
    }
    return copy;
}

static bool says_denies_all(const network_config *config) {
    if (config->internet_set && !config->internet)
        return true;
    for (size_t i = 0; i < json_array_size(config->deny); i++)
        if (strcmp(json_string_value(json_array_get(config->deny, i)), "0.0.0.0/0") == 0)
            return true;
    return false;
}

int network_config_read(network_config *config, json_t *internet, json_t *network, char *message,
                        size_t room) {
    *config = (network_config){.internet_set = internet && !json_is_null(internet),
                               .internet = json_is_true(internet),
                               .allow = copy_list(json_object_get(network, "allowOut")),
                               .deny = copy_list(json_object_get(network, "denyOut"))};
    json_t *proxy = json_object_get(network, "egressProxy");
    config->proxy = json_is_object(proxy) ? json_deep_copy(proxy) : NULL;
    if (!config->allow || !config->deny)
        snprintf(message, room, "out of memory");
    else if (network_config_names(config) > 0 && !says_denies_all(config))
        snprintf(
            message, room,
            "field \"allowOut\" has names, which needs \"0.0.0.0/0\" in \"denyOut\": names are "
            "allowed from among what is denied");
    else
        return 0;
    network_config_free(config);
    return -1;
}

void network_config_free(network_config *config) {
    json_decref(config->allow);
    json_decref(config->deny);
    json_decref(config->proxy);
    *config = (network_config){0};
}

bool network_config_is_set(const network_config *config) {
    return config->allow != NULL;
}

/* Here a sandbox that nobody has said anything about has no internet. */
bool network_config_denies_all(const network_config *config) {
    return says_denies_all(config) ||
           (!config->internet && json_array_size(config->deny) == 0 && !config->proxy);
}

size_t network_config_names(const network_config *config) {
    size_t names = 0;
    net_range range;
    for (size_t i = 0; i < json_array_size(config->allow); i++)
        names += !net_range_parse(json_string_value(json_array_get(config->allow, i)), &range);
    return names;
}

bool network_config_opens(const network_config *config) {
    return json_array_size(config->allow) > 0 || !network_config_denies_all(config);
}
