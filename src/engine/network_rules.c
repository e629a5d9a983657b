#include "network_rules.h"

#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../egress/link.h"
#include "net_ranges.h"

#define REFUSE "goto refusal\n"

typedef bool wanted_range(const net_range *range);

static bool any_range(const net_range *range) {
    (void)range;
    return true;
}

static bool private_range(const net_range *range) {
    return net_range_within(range, NET_PRIVATE);
}

/* The sets "NAME4" and "NAME6" of those of the list that are ranges and wanted; names are left out.
 */
static void put_sets(FILE *out, const char *name, json_t *list, wanted_range *wanted) {
    for (int family = 4; family <= 6; family += 2) {
        fprintf(out, "set %s%d { type ipv%d_addr; flags interval; auto-merge;\n", name, family,
                family);
        const char *before = "elements = { ";
        bool some = false;
        for (size_t i = 0; i < json_array_size(list); i++) {
            net_range range;
            char text[NET_RANGE_TEXT];
            if (!net_range_parse(json_string_value(json_array_get(list, i)), &range) ||
                range.family != (family == 4 ? AF_INET : AF_INET6) || !wanted(&range))
                continue;
            net_range_format(&range, text);
            fprintf(out, "%s%s", some ? ", " : before, text);
            some = true;
        }
        fprintf(out, "%s}\n", some ? " }\n" : "");
    }
}

static json_t *specials(net_class class) {
    json_t *list = json_array();
    const net_special *special;
    for (size_t i = 0; (special = net_special_at(i)); i++)
        if (special->class == class)
            json_array_append_new(list, json_string(special->text));
    return list;
}

static void put_verdict(FILE *out, const char *set, const char *verdict) {
    fprintf(out, "ip daddr @%s4 %s", set, verdict);
    fprintf(out, "ip6 daddr @%s6 %s", set, verdict);
}

/* At once and plainly. The kernel does not believe an unreachable IPv6 address before it has tried
 * for a second; a reset it does. */
static void put_refusal(FILE *out) {
    fputs("chain refusal {\n"
          "meta nfproto ipv6 meta l4proto tcp reject with tcp reset\n"
          "reject with icmpx admin-prohibited\n}\n",
          out);
}

/* Before addresses are translated, so that it sees where the program wanted to go. No state is
 * kept: a change of the rules holds for connections that are open, too. */
static void put_filter(FILE *out, const network_config *config) {
    bool names = network_config_names(config) > 0, denies_all = network_config_denies_all(config);
    fputs("chain filter { type filter hook output priority -150; policy drop;\n"
          "oifname \"lo\" accept\n"
          "icmpv6 type { nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert } accept\n",
          out);
    if (config->proxy)
        fputs("meta l4proto != tcp " REFUSE, out);
    /* These addresses stand for names, and are led to stepbox-egress below. */
    if (names)
        fputs("ip daddr 198.18.0.0/15 tcp dport { 80, 443 } accept\n", out);
    else if (config->proxy && !denies_all)
        fputs("ip daddr 198.18.0.0/15 meta l4proto tcp accept\n", out);
    put_verdict(out, "never", REFUSE);
    put_verdict(out, "host", REFUSE);
    put_verdict(out, "open", "accept\n");
    put_verdict(out, "private", REFUSE);
    put_verdict(out, "allow", "accept\n");
    if (names)
        fputs("tcp dport { 80, 443 } accept\n", out);
    if (denies_all) {
        fputs(REFUSE "}\n", out);
        return;
    }
    put_verdict(out, "deny", REFUSE);
    fputs("accept\n}\n", out);
}

static void put_redirection(FILE *out, const network_config *config) {
    bool names = network_config_names(config) > 0;
    if (!names && !config->proxy)
        return;
    fputs("chain redirection { type nat hook output priority -100; policy accept;\n"
          "oifname \"lo\" return\n",
          out);
    if (config->proxy) {
        fprintf(out, "meta l4proto tcp redirect to :%d\n", LINK_TUNNEL_PORT);
    } else {
        put_verdict(out, "open", "return\n");
        put_verdict(out, "allow", "return\n");
        fprintf(out, "tcp dport { 80, 443 } redirect to :%d\n", LINK_TUNNEL_PORT);
    }
    fputs("}\n", out);
}

char *network_rules_text(const network_config *config, json_t *host) {
    char *text = NULL;
    size_t length;
    json_t *never = specials(NET_NEVER), *closed = specials(NET_PRIVATE);
    FILE *out = never && closed ? open_memstream(&text, &length) : NULL;
    if (out) {
        /* Made anew as a whole, in one step. */
        fputs("table inet stepbox {}\ndelete table inet stepbox\ntable inet stepbox {\n", out);
        put_sets(out, "never", never, any_range);
        put_sets(out, "host", host, any_range);
        put_sets(out, "open", config->allow, private_range);
        put_sets(out, "private", closed, any_range);
        put_sets(out, "allow", config->allow, any_range);
        put_sets(out, "deny", config->deny, any_range);
        put_refusal(out);
        put_filter(out, config);
        put_redirection(out, config);
        fputs("}\n", out);
        bool failed = ferror(out);
        if (fclose(out) != 0 || failed) {
            free(text);
            text = NULL;
        }
    }
    json_decref(never);
    json_decref(closed);
    return text;
}

/* HOST:PORT, checked before. */
static json_t *proxy_policy(json_t *proxy) {
    if (!proxy)
        return json_null();
    const char *address = json_string_value(json_object_get(proxy, "address"));
    const char *colon = strrchr(address, ':');
    size_t length = (size_t)(colon - address);
    bool brackets = address[0] == '[';
    json_t *policy = json_pack("{s:s%, s:s}", "host", address + brackets,
                               length - (brackets ? 2 : 0), "port", colon + 1);
    json_t *user = json_object_get(proxy, "username");
    if (policy && user) {
        json_object_set(policy, "user", user);
        json_object_set(policy, "password", json_object_get(proxy, "password"));
    }
    return policy;
}

static json_t *policy(const network_config *config) {
    json_t *listed = json_array(), *open = json_array();
    for (size_t i = 0; i < json_array_size(config->allow); i++) {
        json_t *entry = json_array_get(config->allow, i);
        net_range range;
        json_array_append(net_range_parse(json_string_value(entry), &range) ? open : listed, entry);
    }
    const char *names = json_array_size(listed) > 0         ? "listed"
                        : network_config_denies_all(config) ? "none"
                                                            : "all";
    return json_pack("{s:s, s:o, s:o, s:o}", "names", names, "listed", listed, "open", open,
                     "proxy", proxy_policy(config->proxy));
}

char *network_rules_message(const network_config *config, json_t *host) {
    char *rules = network_rules_text(config, host);
    json_t *message =
        rules ? json_pack("{s:s, s:o}", "rules", rules, "policy", policy(config)) : NULL;
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    json_decref(message);
    free(rules);
    return text;
}

json_t *network_rules_host_addresses(void) {
    json_t *list = json_array();
    struct ifaddrs *all = NULL;
    if (list && getifaddrs(&all) < 0)
        all = NULL;
    for (struct ifaddrs *one = all; list && one; one = one->ifa_next) {
        net_range range;
        char text[NET_RANGE_TEXT];
        if (!one->ifa_addr || !net_range_of(one->ifa_addr, &range))
            continue;
        net_range_format(&range, text);
        json_array_append_new(list, json_string(text));
    }
    if (all)
        freeifaddrs(all);
    return list;
}
