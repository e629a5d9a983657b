/* network_config_test.c - what a network is asked to be, and the rules that come of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "network_rules.h"

/* Reads a body of PUT /network; message is "" when it is right. */
static network_config read_config(const char *text, char message[512]) {
    static const struct field_rule rules[] = {
        FIELD("allowOut", network_allow_field),        FIELD("denyOut", network_deny_field),
        FIELD("egressProxy", network_proxy_field),     FIELD("rules", network_rules_field),
        FIELD("allow_internet_access", field_boolean), FIELD(NULL, NULL)};
    network_config config = {0};
    json_t *body = fields_parse(text, strlen(text), rules, false, message, 512);
    if (body && network_config_read(&config, fields_get(body, "allow_internet_access"), body,
                                    message, 512) == 0)
        message[0] = '\0';
    json_decref(body);
    return config;
}

static network_config good(const char *text) {
    char message[512];
    network_config config = read_config(text, message);
    assert_string_equal(message, "");
    return config;
}

static void tells_what_is_open(void **state) {
    (void)state;
    static const struct {
        const char *body;
        bool opens, denies_all;
    } cases[] = {
        {"{}", false, true},
        {"{\"allow_internet_access\":false}", false, true},
        {"{\"allow_internet_access\":true}", true, false},
        {"{\"allow_internet_access\":true,\"denyOut\":[\"0.0.0.0/0\"]}", false, true},
        {"{\"denyOut\":[\"192.0.2.0/24\"]}", true, false},
        {"{\"denyOut\":[\"0.0.0.0/0\"]}", false, true},
        {"{\"allowOut\":[\"8.8.8.8\"]}", true, true},
        {"{\"allow_internet_access\":false,\"allowOut\":[\"8.8.8.8\"]}", true, true},
        {"{\"egressProxy\":{\"address\":\"a.example:1080\"}}", true, false},
        {"{\"allowOut\":[\"a.example\"],\"denyOut\":[\"0.0.0.0/0\"]}", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        network_config config = good(cases[i].body);
        if (network_config_opens(&config) != cases[i].opens ||
            network_config_denies_all(&config) != cases[i].denies_all)
            fail_msg("%s", cases[i].body);
        network_config_free(&config);
    }
}

static void names_what_is_wrong(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{\"allowOut\":[\"8.8.8.8\",\"127.1\"]}", "127.1"},
        {"{\"allowOut\":[\"169.254.0.0/17\"]}", "169.254.0.0/17"},
        {"{\"allowOut\":[\"::ffff:10.0.0.1\"]}", "::ffff:10.0.0.1"},
        {"{\"allowOut\":[\"fe80::1%eth0\"]}", "fe80::1%eth0"},
        {"{\"allowOut\":[\"a_b\"]}", "a_b"},
        {"{\"allowOut\":[\"-a.example\"]}", "-a.example"},
        {"{\"allowOut\":[\"*\"]}", "\"*\""},
        {"{\"allowOut\":[1]}", "entry 1"},
        {"{\"allowOut\":\"8.8.8.8\"}", "allowOut"},
        {"{\"allowOut\":[\"a.example\"]}", "0.0.0.0/0"},
        {"{\"denyOut\":[\"a.example\"]}", "a.example"},
        {"{\"egressProxy\":{}}", "egressProxy"},
        {"{\"egressProxy\":{\"address\":\"a\"}}", "HOST:PORT"},
        {"{\"egressProxy\":{\"address\":\"a:0\"}}", "HOST:PORT"},
        {"{\"egressProxy\":{\"address\":\"a:65536\"}}", "HOST:PORT"},
        {"{\"egressProxy\":{\"address\":\"::1:1080\"}}", "HOST:PORT"},
        {"{\"egressProxy\":{\"address\":\"a:1\",\"username\":\"x\"}}", "password"},
        {"{\"egressProxy\":{\"address\":\"a:1\",\"port\":1}}", "port"},
        {"{\"rules\":{\"a\":[]}}", "rules"},
        {"{\"maskRequestHost\":\"x\"}", "maskRequestHost"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[512];
        network_config config = read_config(cases[i][0], message);
        if (!strstr(message, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], message);
        network_config_free(&config);
    }
}

/* The rules for a body, on a host with an address of each kind. */
static char *rules_of(const char *body) {
    network_config config = good(body);
    json_t *host = json_pack("[s, s]", "203.0.113.2/32", "2001:db8::2/128");
    char *text = network_rules_text(&config, host);
    assert_non_null(text);
    json_decref(host);
    network_config_free(&config);
    return text;
}

static void assert_before(const char *text, const char *first, const char *second) {
    const char *one = strstr(text, first), *two = strstr(text, second);
    if (!one || !two || one > two)
        fail_msg("%s is not before %s in:\n%s", first, second, text);
}

static void writes_rules_in_the_order_that_counts(void **state) {
    (void)state;
    char *text =
        rules_of("{\"allowOut\":[\"10.1.0.0/16\",\"0.0.0.0/0\"],\"denyOut\":[\"8.8.8.8\"]}");
    assert_before(text, "policy drop", "oifname \"lo\" accept");
    assert_before(text, "ip daddr @never4 goto refusal", "ip daddr @open4 accept");
    assert_before(text, "ip daddr @host4 goto refusal", "ip daddr @open4 accept");
    assert_before(text, "ip daddr @open4 accept", "ip daddr @private4 goto refusal");
    assert_before(text, "ip6 daddr @private6 goto refusal", "ip daddr @allow4 accept");
    assert_before(text, "ip daddr @allow4 accept", "ip daddr @deny4 goto refusal");
    /* What is wider than the private range that it covers does not open it. */
    const char *open = strstr(text, "set open4");
    const char *end = strstr(open, "set open6");
    assert_non_null(memmem(open, (size_t)(end - open), "10.1.0.0/16", 11));
    assert_null(memmem(open, (size_t)(end - open), "0.0.0.0/0", 9));
    assert_null(strstr(text, "redirect"));
    free(text);
}

static void redirects_only_what_is_checked(void **state) {
    (void)state;
    char *text = rules_of("{\"allowOut\":[\"a.example\"],\"denyOut\":[\"0.0.0.0/0\"]}");
    assert_before(text, "ip6 daddr @private6 goto refusal", "\ntcp dport { 80, 443 } accept\n");
    assert_non_null(strstr(text, "tcp dport { 80, 443 } redirect to :1023"));
    free(text);
    text = rules_of("{\"egressProxy\":{\"address\":\"a.example:1080\"}}");
    assert_before(text, "meta l4proto != tcp goto refusal", "ip daddr @open4 accept");
    assert_non_null(strstr(text, "meta l4proto tcp redirect to :1023"));
    free(text);
}

static void tells_the_policy(void **state) {
    (void)state;
    network_config config =
        good("{\"allowOut\":[\"*.A.example\",\"10.0.0.1\"],\"denyOut\":[\"0.0.0.0/0\"],"
             "\"egressProxy\":{\"address\":\"[2001:db8::7]:1080\",\"username\":\"u\",\"password\":"
             "\"p\"}}");
    json_t *host = json_array();
    char *text = network_rules_message(&config, host);
    json_t *message = json_loads(text, 0, NULL), *policy = json_object_get(message, "policy");
    const char *names, *listed, *open, *proxy, *port, *user, *password;
    assert_int_equal(json_unpack(policy, "{s:s, s:[s], s:[s], s:{s:s, s:s, s:s, s:s}}", "names",
                                 &names, "listed", &listed, "open", &open, "proxy", "host", &proxy,
                                 "port", &port, "user", &user, "password", &password),
                     0);
    assert_string_equal(names, "listed");
    assert_string_equal(listed, "*.a.example");
    assert_string_equal(open, "10.0.0.1");
    assert_string_equal(proxy, "2001:db8::7");
    assert_string_equal(port, "1080");
    assert_string_equal(user, "u");
    json_decref(message);
    json_decref(host);
    free(text);
    network_config_free(&config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_is_open),
        cmocka_unit_test(names_what_is_wrong),
        cmocka_unit_test(writes_rules_in_the_order_that_counts),
        cmocka_unit_test(redirects_only_what_is_checked),
        cmocka_unit_test(tells_the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
