/* net_ranges_test.c - which addresses are whose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "net_ranges.h"

static net_class class_of(const char *text) {
    net_range range;
    assert_true(net_range_parse(text, &range));
    return net_range_class(&range);
}

static void reads_what_is_written_plainly(void **state) {
    (void)state;
    static const char *const good[][2] = {{"192.0.2.7", "192.0.2.7/32"},
                                          {"192.0.2.7/24", "192.0.2.0/24"},
                                          {"0.0.0.0/0", "0.0.0.0/0"},
                                          {"255.255.255.255/1", "128.0.0.0/1"},
                                          {"2001:DB8::7", "2001:db8::7/128"},
                                          {"2001:db8:ffff::/33", "2001:db8:8000::/33"},
                                          {"::/0", "::/0"},
                                          {"::ffff:10.0.0.1", "::ffff:10.0.0.1/128"}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        net_range range;
        char text[NET_RANGE_TEXT];
        assert_true(net_range_parse(good[i][0], &range));
        net_range_format(&range, text);
        assert_string_equal(text, good[i][1]);
    }
}

static void reads_no_other_spelling(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "/",
        "127.1",
        "127",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "01.2.3.4",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "1.2.3.4/",
        "1.2.3.4/33",
        "1.2.3.4/-1",
        "1.2.3.4/08",
        "1.2.3.4/+8",
        "1.2.3.4/8/8",
        " 1.2.3.4",
        "1.2.3.4 ",
        "1.2.3.4/8 ",
        "fe80::1%eth0",
        "::1/129",
        ":::",
        "1::2::3",
        "[::1]",
        "example.com",
        "1.2.3.4:80",
        "12345::",
        "::1.2.3",
        "1.2.3.4/4294967304",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        net_range range;
        if (net_range_parse(bad[i], &range))
            fail_msg("%s was read", bad[i]);
    }
}

static void tells_classes(void **state) {
    (void)state;
    static const char *const never[] = {"0.0.0.0",
                                        "0.255.0.1",
                                        "127.0.0.1",
                                        "127.255.255.254",
                                        "169.254.169.254",
                                        "169.254.0.1",
                                        "168.63.129.16",
                                        "100.100.100.200",
                                        "192.0.0.192",
                                        "224.0.0.1",
                                        "239.1.1.1",
                                        "255.255.255.255",
                                        "240.0.0.1",
                                        "192.0.2.1",
                                        "198.18.0.1",
                                        "198.19.255.1",
                                        "::",
                                        "::1",
                                        "::7f00:1",
                                        "::ffff:10.0.0.1",
                                        "::ffff:8.8.8.8",
                                        "::ffff:0:8.8.8.8",
                                        "64:ff9b::8.8.8.8",
                                        "64:ff9b:1::1",
                                        "2001::1",
                                        "2002:808:808::1",
                                        "fe80::1",
                                        "febf::1",
                                        "fec0::1",
                                        "ff02::1",
                                        "fd00:ec2::254",
                                        "fd20:ce::254",
                                        "fd00:5b::1"};
    static const char *const private[] = {
        "10.0.0.1",    "10.255.255.255", "172.16.0.1",  "172.31.9.9", "192.168.0.1", "100.64.0.1",
        "100.127.1.1", "192.0.0.1",      "192.88.99.1", "fc00::1",    "fdff::1",     "100::1"};
    static const char *const public[] = {
        "8.8.8.8",     "9.255.255.255", "11.0.0.0",        "172.15.0.1",   "172.32.0.1",
        "192.167.0.1", "192.169.0.1",   "100.63.0.1",      "100.128.0.1",  "169.253.0.1",
        "198.17.0.1",  "198.20.0.1",    "223.255.255.255", "2001:4860::8", "2001:1::1",
        "2a00::1",     "64:ff9c::1",    "2003::1",         "100:0:0:1::1"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (class_of(never[i]) != NET_NEVER)
            fail_msg("%s", never[i]);
    for (size_t i = 0; i < sizeof private / sizeof *private; i++)
        if (class_of(private[i]) != NET_PRIVATE)
            fail_msg("%s", private[i]);
    for (size_t i = 0; i < sizeof public / sizeof *public; i++)
        if (class_of(public[i]) != NET_PUBLIC)
            fail_msg("%s", public[i]);
    /* A range is as bad as its worst part. */
    assert_int_equal(class_of("0.0.0.0/0"), NET_NEVER);
    assert_int_equal(class_of("8.0.0.0/6"), NET_PRIVATE);
    assert_int_equal(class_of("8.0.0.0/8"), NET_PUBLIC);
}

static void compares_ranges(void **state) {
    (void)state;
    static const struct {
        const char *wide, *narrow;
        bool covers;
    } pairs[] = {{"10.0.0.0/8", "10.1.2.3", true}, {"10.1.2.3", "10.0.0.0/8", false},
                 {"10.1.2.3", "10.1.2.3", true},   {"0.0.0.0/0", "::/0", false},
                 {"::/0", "2001:db8::/32", true},  {"10.0.0.0/9", "10.128.0.0/9", false},
                 {"fc00::/7", "fdff::1", true},    {"fc00::/7", "fe00::1", false}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        net_range wide, narrow;
        assert_true(net_range_parse(pairs[i].wide, &wide));
        assert_true(net_range_parse(pairs[i].narrow, &narrow));
        assert_int_equal(net_range_covers(&wide, &narrow), pairs[i].covers);
    }
    net_range within, across;
    assert_true(net_range_parse("172.20.0.0/16", &within));
    assert_true(net_range_parse("172.0.0.0/8", &across));
    assert_true(net_range_within(&within, NET_PRIVATE));
    assert_false(net_range_within(&across, NET_PRIVATE));
    assert_false(net_range_within(&within, NET_NEVER));
}

static void takes_a_mapped_address_for_what_it_is(void **state) {
    (void)state;
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6};
    net_range range;
    char text[NET_RANGE_TEXT];
    assert_int_equal(inet_pton(AF_INET6, "::ffff:10.9.9.9", &mapped.sin6_addr), 1);
    assert_true(net_range_of((struct sockaddr *)&mapped, &range));
    net_range_format(&range, text);
    assert_string_equal(text, "10.9.9.9/32");
    assert_int_equal(net_range_class(&range), NET_PRIVATE);
    struct sockaddr other = {.sa_family = AF_UNIX};
    assert_false(net_range_of(&other, &range));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_written_plainly),
        cmocka_unit_test(reads_no_other_spelling),
        cmocka_unit_test(tells_classes),
        cmocka_unit_test(compares_ranges),
        cmocka_unit_test(takes_a_mapped_address_for_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
