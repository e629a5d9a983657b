/* What a client asks of a sandbox's network, on its way to the firewall and to stepbox-egress: no
 * text of the client's becomes a rule, the policy is one that is understood, and nothing opens what
 * is closed whatever is allowed. */
#include "policy.h"

#include "../../src/engine/network_rules.h"

#include "../fuzz.h"

#include <arpa/inet.h>

/* Elements of sets are addresses; all else is ours. */
static void check_rules(const char *rules) {
    static const char ours[] = "abcdefghijklmnopqrstuvwxyz0123456789 @{}:;,./-_!=\"";
    int depth = 0;
    for (const char *line = rules; *line;) {
        size_t length = strcspn(line, "\n");
        bool is_set = strncmp(line, "elements = { ", 13) == 0;
        FUZZ_CHECK(strspn(line + (is_set ? 13 : 0), is_set ? "0123456789abcdef.:/, }" : ours) >=
                   length - (is_set ? 13 : 0));
        for (size_t i = 0; i < length; i++)
            depth += (line[i] == '{') - (line[i] == '}');
        FUZZ_CHECK(depth >= 0);
        line += length + (line[length] == '\n');
    }
    FUZZ_CHECK(depth == 0);
}

static void check_policy(json_t *source, const network_config *config) {
    static const char *const never[] = {"127.0.0.1", "169.254.169.254", "0.0.0.0", "192.0.2.1"};
    struct policy *policy = policy_read(source);
    FUZZ_CHECK(policy);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET};
        inet_pton(AF_INET, never[i], &address.sin_addr);
        FUZZ_CHECK(!policy_opens(policy, (struct sockaddr *)&address));
    }
    FUZZ_CHECK((policy->names == NAMES_LISTED) == (network_config_names(config) > 0));
    for (const char **listed = policy->listed; *listed; listed++)
        FUZZ_CHECK(policy_lists(policy, *listed) || **listed == '*');
    FUZZ_CHECK(!policy_lists(policy, "") && !policy_lists(policy, "."));
    policy_release(policy);
}

static void check_config(json_t *internet, json_t *network) {
    network_config config;
    char message[512] = "";
    if (network_config_read(&config, internet, network, message, sizeof message) != 0) {
        FUZZ_CHECK(*message && fuzz_is_printable(message));
        return;
    }
    json_t *host = json_pack("[s, s]", "192.168.1.2/32", "fd12::1/128");
    char *text = network_rules_message(&config, host);
    FUZZ_CHECK(text);
    json_t *root = json_loads(text, 0, NULL);
    const char *rules = json_string_value(json_object_get(root, "rules"));
    FUZZ_CHECK(rules);
    check_rules(rules);
    check_policy(json_object_get(root, "policy"), &config);
    json_decref(root);
    json_decref(host);
    free(text);
    network_config_free(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    unsigned how = fuzz_byte(&input);
    char why[512] = "";
    json_t *internet = how & 1 ? json_boolean(how & 2) : NULL;
    json_t *network = json_loadb(input.bytes, input.length, 0, NULL);
    if (network && network_field(NULL, network, why, sizeof why))
        check_config(internet, network);
    else if (network)
        FUZZ_CHECK(*why);
    json_decref(network);
    json_decref(internet);
    return 0;
}
