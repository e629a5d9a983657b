/* dns_message_test.c - queries for names, and answers to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../support/guarded.h"
#include "dns_message.h"
#include "name_pool.h"

#define HEAD "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
#define QUERY                                                                                      \
    HEAD "\x07"                                                                                    \
         "Example\x03"                                                                             \
         "com\x00\x00\x01\x00\x01"

static bool read_query(const void *bytes, size_t length, struct dns_question *question) {
    return dns_read_query((const uint8_t *)guarded(bytes, length), length, question);
}

static void reads_a_question(void **state) {
    (void)state;
    struct dns_question question;
    size_t length = sizeof QUERY - 1;
    assert_true(read_query(QUERY, length, &question));
    assert_string_equal(question.name, "example.com");
    assert_int_equal(question.type, DNS_TYPE_A);
    assert_int_equal(question.end, length);
    for (size_t part = 0; part < length; part++)
        assert_false(read_query(QUERY, part, &question));
    assert_true(read_query(HEAD "\0\0\x02\0\x01", 17, &question)); /* the root's servers */
    assert_string_equal(question.name, "");
}

static void refuses_other_messages(void **state) {
    (void)state;
    struct dns_question question;
    uint8_t query[sizeof QUERY - 1];
    static const struct {
        size_t at;
        uint8_t value;
    } changes[] = {{2, 0x81},  {2, 0x29},  {5, 0},  {5, 2},    {7, 1},    {9, 1}, {12, 64},
                   {12, 0xc0}, {12, 0xff}, {13, 0}, {13, '.'}, {13, ' '}, {28, 3}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        memcpy(query, QUERY, sizeof query);
        query[changes[i].at] = changes[i].value;
        if (read_query(query, sizeof query, &question))
            fail_msg("byte %zu as %d", changes[i].at, changes[i].value);
    }
}

static void bounds_names(void **state) {
    (void)state;
    uint8_t query[600] = HEAD;
    struct dns_question question;
    size_t at = DNS_HEADER;
    for (int label = 0; label < 5; label++) {
        query[at++] = 62;
        memset(query + at, 'a', 62);
        at += 62;
    }
    memcpy(query + at, "\0\0\x01\0\x01", 5);
    assert_false(read_query(query, at + 5, &question));
    /* Three such labels fit. */
    memcpy(query + DNS_HEADER + 3 * 63, "\0\0\x01\0\x01", 5);
    assert_true(read_query(query, DNS_HEADER + 3 * 63 + 5, &question));
    assert_int_equal(strlen(question.name), 3 * 63 - 1);
}

static void writes_answers(void **state) {
    (void)state;
    struct dns_question question;
    const uint8_t *query = (const uint8_t *)QUERY;
    uint8_t out[DNS_HEADER + 300];
    static const uint8_t address[] = {198, 18, 0, 1};
    assert_true(read_query(QUERY, sizeof QUERY - 1, &question));
    size_t length = dns_write_answer(query, &question, 0, address, out);
    assert_int_equal(length, question.end + 16);
    assert_true(dns_answers(out, length, query, sizeof QUERY - 1));
    assert_int_equal(dns_id(out), 0x1234);
    assert_memory_equal(out + length - 4, address, 4);
    length = dns_write_answer(query, &question, DNS_NAME_ERROR, NULL, out);
    assert_int_equal(length, question.end);
    assert_int_equal(out[3] & 15, DNS_NAME_ERROR);
    assert_true(dns_answers(out, length, query, sizeof QUERY - 1));
    out[14] ^= 0x20; /* another spelling: whoever answered had not seen ours */
    assert_false(dns_answers(out, length, query, sizeof QUERY - 1));
    assert_false(dns_answers(query, sizeof QUERY - 1, query, sizeof QUERY - 1));
}

static void gives_each_name_an_address(void **state) {
    (void)state;
    uint8_t first[4], again[4], other[4];
    char name[DNS_NAME_MAX], text[32];
    assert_true(name_pool_give("a.example", first));
    assert_true(name_pool_give("b.example", other));
    assert_true(name_pool_give("a.example", again));
    assert_memory_equal(first, again, 4);
    assert_memory_not_equal(first, other, 4);
    assert_true(name_pool_find(other, name, sizeof name));
    assert_string_equal(name, "b.example");
    static const uint8_t foreign[][4] = {
        {198, 18, 0, 0}, {198, 19, 0, 1}, {10, 0, 0, 1}, {198, 18, 255, 255}};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        assert_false(name_pool_find(foreign[i], name, sizeof name));
    /* Names without end: the oldest gives its own away, and is not confused with the new one. */
    for (int i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "n%d.example", i);
        assert_true(name_pool_give(text, again));
        assert_true(name_pool_find(again, name, sizeof name));
        assert_string_equal(name, text);
    }
    assert_true(name_pool_find(first, name, sizeof name));
    assert_string_not_equal(name, "a.example");
    assert_true(name_pool_give("a.example", again));
    assert_true(name_pool_find(again, name, sizeof name));
    assert_string_equal(name, "a.example");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_question),
        cmocka_unit_test(refuses_other_messages),
        cmocka_unit_test(bounds_names),
        cmocka_unit_test(writes_answers),
        cmocka_unit_test(gives_each_name_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
