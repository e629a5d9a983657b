#include "policy.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct policy *current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void destroy(struct policy *policy) {
    json_decref(policy->source);
    free(policy->listed);
    free(policy->open);
    free(policy);
}

static bool read_names(struct policy *policy, const char *names, json_t *listed) {
    policy->names = strcmp(names, "all") == 0      ? NAMES_ALL
                    : strcmp(names, "listed") == 0 ? NAMES_LISTED
                                                   : NAMES_NONE;
    size_t count = json_array_size(listed);
    policy->listed = calloc(count + 1, sizeof *policy->listed);
    for (size_t i = 0; policy->listed && i < count; i++)
        if (!(policy->listed[i] = json_string_value(json_array_get(listed, i))))
            return false;
    return policy->listed != NULL;
}

static bool read_open(struct policy *policy, json_t *open) {
    policy->open_count = json_array_size(open);
    policy->open = calloc(policy->open_count + 1, sizeof *policy->open);
    for (size_t i = 0; policy->open && i < policy->open_count; i++) {
        const char *text = json_string_value(json_array_get(open, i));
        if (!text || !net_range_parse(text, &policy->open[i]))
            return false;
    }
    return policy->open != NULL;
}

struct policy *policy_read(json_t *source) {
    const char *names;
    json_t *listed, *open, *proxy;
    struct policy *policy = calloc(1, sizeof *policy);
    if (!policy)
        return NULL;
    policy->source = json_incref(source);
    policy->holders = 1;
    if (json_unpack(source, "{s:s, s:o, s:o, s:o}", "names", &names, "listed", &listed, "open",
                    &open, "proxy", &proxy) == 0 &&
        read_names(policy, names, listed) && read_open(policy, open) &&
        (json_is_null(proxy) ||
         json_unpack(proxy, "{s:s, s:s, s?s, s?s}", "host", &policy->proxy_host, "port",
                     &policy->proxy_port, "user", &policy->proxy_user, "password",
                     &policy->proxy_password) == 0))
        return policy;
    destroy(policy);
    return NULL;
}

bool policy_lists(const struct policy *policy, const char *name) {
    size_t length = strlen(name);
    for (const char **listed = policy->listed; *listed; listed++) {
        const char *pattern = *listed;
        if (strcmp(pattern, name) == 0)
            return true;
        size_t tail = strlen(pattern) - 1; /* ".example.com" */
        if (pattern[0] == '*' && length > tail && strcmp(name + length - tail, pattern + 1) == 0)
            return true;
    }
    return false;
}

bool policy_allows(const struct policy *policy, const struct sockaddr *address) {
    net_range range;
    if (!net_range_of(address, &range))
        return false;
    for (size_t i = 0; i < policy->open_count; i++)
        if (net_range_covers(&policy->open[i], &range))
            return true;
    return false;
}

bool policy_opens(const struct policy *policy, const struct sockaddr *address) {
    net_range range;
    if (!net_range_of(address, &range))
        return false;
    net_class class = net_range_class(&range);
    /* A range that is wider than the private one that it covers does not mean it. */
    for (size_t i = 0; class == NET_PRIVATE && i < policy->open_count; i++)
        if (net_range_covers(&policy->open[i], &range) &&
            net_range_within(&policy->open[i], NET_PRIVATE))
            return true;
    return class == NET_PUBLIC;
}

void policy_set(struct policy *policy) {
    pthread_mutex_lock(&lock);
    struct policy *before = current;
    current = policy;
    pthread_mutex_unlock(&lock);
    if (before)
        policy_release(before);
}

struct policy *policy_get(void) {
    pthread_mutex_lock(&lock);
    struct policy *policy = current;
    policy->holders++;
    pthread_mutex_unlock(&lock);
    return policy;
}

void policy_release(struct policy *policy) {
    pthread_mutex_lock(&lock);
    bool last = --policy->holders == 0;
    pthread_mutex_unlock(&lock);
    if (last)
        destroy(policy);
}
