/* sandbox_list_test.c - filters, order and pages of the list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sandbox_list.h"

static char message[256];

static int set(struct list_query *query, const char *name, const char *value) {
    return list_query_set(query, name, value, message, sizeof message);
}

static void assert_refused(int version, const char *name, const char *value) {
    struct list_query query;
    list_query_init(&query, version);
    if (set(&query, name, value) == 0)
        fail_msg("%s=%s was taken", name, value);
    assert_non_null(strstr(message, name));
    list_query_free(&query);
}

/* count records, each started 10 ms after the one before, in pairs with the same time. */
static struct sandbox_record *make_records(size_t count, const struct sandbox_record ***pointers) {
    struct sandbox_record *records = calloc(count, sizeof *records);
    *pointers = calloc(count, sizeof **pointers);
    assert_non_null(records);
    assert_non_null(*pointers);
    for (size_t i = 0; i < count; i++) {
        snprintf(records[i].id, sizeof records[i].id, "i%019u", (unsigned)(i % 1000));
        strcpy(records[i].template_id, i % 3 ? "base" : "code-interpreter-v1");
        records[i].alias = i % 3 ? "base" : "code-interpreter-v1";
        records[i].started_at = 1000000 + (int64_t)(i / 2) * 10;
        records[i].metadata =
            json_pack("{s:s, s:s}", "parity", i % 2 ? "odd" : "even", "a b", "x&y=z%");
        (*pointers)[(i * 7) % count] = &records[i]; /* in no order; count is no multiple of 7 */
    }
    return records;
}

static void free_records(struct sandbox_record *records, const struct sandbox_record **pointers,
                         size_t count) {
    for (size_t i = 0; i < count; i++)
        json_decref(records[i].metadata);
    free(records);
    free(pointers);
}

static void states_are_told_apart(void **state) {
    (void)state;
    static const struct {
        int version;
        const char *wanted; /* NULL: nothing is said */
        size_t total, running;
    } cases[] = {{2, NULL, 25, 16},
                 {2, "running", 16, 16},
                 {2, "paused", 9, 0},
                 {1, NULL, 16, 16},
                 {2, "paused,running", 25, 16}};
    const struct sandbox_record **pointers;
    struct sandbox_record *records = make_records(25, &pointers);
    for (size_t i = 0; i < 25; i++)
        records[i].paused = i % 3 == 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sandbox_record *copy[25];
        struct list_query query;
        struct list_page page;
        list_query_init(&query, cases[i].version);
        if (cases[i].wanted)
            assert_int_equal(set(&query, "state", cases[i].wanted), 0);
        memcpy(copy, pointers, sizeof copy);
        list_select(&query, copy, 25, &page);
        assert_int_equal(page.total, cases[i].total);
        assert_int_equal(page.running, cases[i].running);
        list_query_free(&query);
    }
    free_records(records, pointers, 25);
}

static void pages_show_each_record_once_in_order(void **state) {
    (void)state;
    const struct sandbox_record **pointers;
    struct sandbox_record *records = make_records(25, &pointers);
    for (int ascending = 0; ascending < 2; ascending++) {
        struct list_query query;
        struct list_page page;
        char token[LIST_TOKEN_SIZE] = "";
        size_t seen = 0;
        int pages = 0;
        do {
            list_query_init(&query, 2);
            assert_int_equal(set(&query, "limit", "4"), 0);
            assert_int_equal(set(&query, "order", ascending ? "asc" : "desc"), 0);
            if (token[0])
                assert_int_equal(set(&query, "nextToken", token), 0);
            list_select(&query, pointers, 25, &page);
            assert_int_equal(page.total, 25);
            for (size_t i = page.first; i < page.first + page.count; i++, seen++)
                assert_ptr_equal(pointers[i], &records[ascending ? seen : 24 - seen]);
            strcpy(token, page.next_token);
            list_query_free(&query);
            pages++;
        } while (token[0]);
        assert_int_equal(seen, 25);
        assert_int_equal(pages, 7);
    }
    free_records(records, pointers, 25);
}

static void a_page_goes_on_behind_a_record_that_has_gone(void **state) {
    (void)state;
    const struct sandbox_record **pointers;
    struct sandbox_record *records = make_records(10, &pointers);
    struct list_query query;
    struct list_page page;
    list_query_init(&query, 2);
    assert_int_equal(set(&query, "limit", "3"), 0);
    list_select(&query, pointers, 10, &page); /* newest first: 9, 8, 7 */
    assert_int_equal(set(&query, "nextToken", page.next_token), 0);
    const struct sandbox_record *left[9];
    size_t count = 0;
    for (size_t i = 0; i < 10; i++)
        if (i != 7)
            left[count++] = &records[i];
    list_select(&query, left, count, &page);
    assert_ptr_equal(left[page.first], &records[6]);
    list_query_free(&query);
    free_records(records, pointers, 10);
}

static size_t total(int version, const char *name, const char *value) {
    const struct sandbox_record **pointers;
    struct sandbox_record *records = make_records(12, &pointers);
    struct list_query query;
    struct list_page page;
    list_query_init(&query, version);
    if (set(&query, name, value) < 0)
        fail_msg("%s", message);
    list_select(&query, pointers, 12, &page);
    assert_int_equal(page.count, page.total);
    list_query_free(&query);
    free_records(records, pointers, 12);
    return page.total;
}

static void filters_choose(void **state) {
    (void)state;
    assert_int_equal(total(2, "metadata", "parity=odd"), 6);
    assert_int_equal(total(1, "metadata", "parity=odd"), 6);
    assert_int_equal(total(2, "metadata", "parity=odd&other=1"), 0);
    assert_int_equal(total(2, "metadata", "parity="), 0);
    /* As the SDKs send it: name and value encoded, joined, and then the whole encoded again. */
    assert_int_equal(total(2, "metadata", "a%2520b=x%2526y%253Dz%2525&parity=even"), 6);
    assert_int_equal(total(2, "state", "running"), 12);
    assert_int_equal(total(2, "state", "paused"), 0);
    assert_int_equal(total(2, "state", "paused,running"), 12);
    assert_int_equal(total(2, "template", "code-interpreter-v1"), 4);
    assert_int_equal(total(2, "template", "other"), 0);
    assert_int_equal(total(2, "startedAfter", "1970-01-01T00:16:40.030Z"),
                     6); /* at that time, or later */
    assert_int_equal(total(2, "startedAfter", "1970-01-01T01:16:40.030+01:00"), 6);
}

static void wrong_parameters_are_named(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"limit", "0"},
        {"limit", "101"},
        {"limit", "x"},
        {"limit", ""},
        {"limit", "1.5"},
        {"limit", " 1"},
        {"order", "up"},
        {"state", "gone"},
        {"state", ""},
        {"state", "running,"},
        {"nextToken", "x"},
        {"nextToken", ""},
        {"nextToken", "1-i"},
        {"startedAfter", "now"},
        {"startedAfter", "2026-02-30T00:00:00Z"},
        {"startedAfter", "2026-01-01T00:00:00"},
        {"template", ""},
        {"metadata", "novalue"},
        {"metadata", "=x"},
        {"metadata", "a=%"},
        {"metadata", "a=%00"},
        {"metadata", "a=1&"},
        {"unknown", "1"},
        {"nextToken", "99999999999999999999-i0123456789012345678"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(2, wrong[i][0], wrong[i][1]);
    assert_refused(1, "limit", "1");
    assert_refused(1, "state", "running");
}

static void the_first_generation_has_no_pages(void **state) {
    (void)state;
    const struct sandbox_record **pointers;
    struct sandbox_record *records = make_records(150, &pointers);
    struct list_query query;
    struct list_page page;
    list_query_init(&query, 1);
    list_select(&query, pointers, 150, &page);
    assert_int_equal(page.count, 150);
    assert_string_equal(page.next_token, "");
    list_query_init(&query, 2);
    list_select(&query, pointers, 150, &page);
    assert_int_equal(page.count, 100);
    list_select(&query, pointers, 0, &page);
    assert_int_equal(page.total, 0);
    assert_int_equal(page.count, 0);
    free_records(records, pointers, 150);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_told_apart),
        cmocka_unit_test(pages_show_each_record_once_in_order),
        cmocka_unit_test(a_page_goes_on_behind_a_record_that_has_gone),
        cmocka_unit_test(filters_choose),
        cmocka_unit_test(wrong_parameters_are_named),
        cmocka_unit_test(the_first_generation_has_no_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
