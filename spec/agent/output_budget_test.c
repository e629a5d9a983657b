/* output_budget_test.c - what passes of a step's output, what is counted as dropped, and what is
 * said of it. */
#include "output_budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static size_t take(output_budget *budget, const char *text) {
    return output_budget_take(budget, OUTPUT_BUDGET_STDOUT, text, strlen(text));
}

static void without_a_limit_all_passes(void **state) {
    (void)state;
    output_budget budget;
    output_budget_begin(&budget, 0);
    assert_int_equal(output_budget_take(&budget, OUTPUT_BUDGET_STDOUT, NULL, SIZE_MAX), SIZE_MAX);
    assert_int_equal(take(&budget, "more"), 4);
    assert_true(output_budget_take_result(&budget, SIZE_MAX));
    assert_true(output_budget_take_error(&budget, SIZE_MAX));
    assert_false(output_budget_is_over(&budget));
}

static void the_limit_itself_passes(void **state) {
    (void)state;
    output_budget budget;
    output_budget_begin(&budget, 10);
    assert_int_equal(take(&budget, "01234"), 5);
    assert_int_equal(output_budget_take(&budget, OUTPUT_BUDGET_STDERR, "56789", 5), 5);
    assert_false(output_budget_is_over(&budget));
    assert_int_equal(take(&budget, ""), 0);
    assert_false(output_budget_is_over(&budget));
    assert_int_equal(take(&budget, "x"), 0);
    assert_true(output_budget_is_over(&budget));
    assert_int_equal(budget.dropped[OUTPUT_BUDGET_STDOUT], 1);
    assert_int_equal(budget.dropped[OUTPUT_BUDGET_STDERR], 0);
}

static void nothing_follows_a_gap(void **state) {
    (void)state;
    output_budget budget;
    output_budget_begin(&budget, 10);
    /* A character of three bytes that does not fit: two are left, and stay so. */
    assert_int_equal(take(&budget, "01234567\xe2\x82\xac"), 8);
    assert_int_equal(take(&budget, "x"), 0);
    assert_int_equal(output_budget_take(&budget, OUTPUT_BUDGET_STDERR, "yz", 2), 0);
    assert_int_equal(budget.dropped[OUTPUT_BUDGET_STDOUT], 4);
    assert_int_equal(budget.dropped[OUTPUT_BUDGET_STDERR], 2);
}

static void what_is_no_utf8_is_cut_anywhere(void **state) {
    (void)state;
    output_budget budget;
    output_budget_begin(&budget, 5);
    assert_int_equal(take(&budget, "\x80\x80\x80\x80\x80\x80\x80\x80"), 5);
    output_budget_begin(&budget, 1);
    assert_int_equal(take(&budget, "\x80\x80"), 1);
}

static void short_pieces_count_for_more(void **state) {
    (void)state;
    output_budget budget;
    output_budget_begin(&budget, 10 * OUTPUT_PIECE_LEAST);
    int pieces = 0;
    while (take(&budget, "x")) {
        output_budget_piece(&budget, 1);
        pieces++;
    }
    assert_int_equal(pieces, 10);
    output_budget_begin(&budget, 100);
    output_budget_piece(&budget, OUTPUT_PIECE_LEAST);
    assert_int_equal(budget.used, 0);
}

static void results_stand_each_for_itself(void **state) {
    (void)state;
    output_budget budget;
    char text[OUTPUT_BUDGET_TEXT];
    output_budget_begin(&budget, 100);
    assert_false(output_budget_take_result(&budget, 101));
    assert_true(output_budget_take_result(&budget, 60));
    assert_false(output_budget_take_result(&budget, 41));
    assert_int_equal(take(&budget, "0123456789"), 10);
    assert_true(output_budget_take_result(&budget, 30));
    assert_int_equal(budget.results, 2);
    assert_int_equal(budget.result_bytes, 142);
    output_budget_tell(&budget, "step", text);
    assert_string_equal(text,
                        "dropped beyond the sandbox's limit of output, 100 bytes for each step: "
                        "2 results or errors of 142 bytes");
}

static void the_first_error_passes_when_it_is_no_bomb(void **state) {
    (void)state;
    output_budget budget;
    output_budget_begin(&budget, 5);
    assert_int_equal(take(&budget, "0123456"), 5);
    assert_false(output_budget_take_error(&budget, OUTPUT_ERROR_FREE + 1));
    assert_false(budget.has_error);
    assert_true(output_budget_take_error(&budget, OUTPUT_ERROR_FREE));
    assert_true(budget.has_error);
    assert_false(output_budget_take_error(&budget, 1));
    char text[OUTPUT_BUDGET_TEXT];
    output_budget_tell(&budget, "step", text);
    assert_string_equal(text,
                        "dropped beyond the sandbox's limit of output, 5 bytes for each step: "
                        "2 bytes of output, 2 results or errors of 65538 bytes");
}

static void the_largest_numbers_have_room(void **state) {
    (void)state;
    char text[OUTPUT_BUDGET_TEXT];
    output_budget budget = {.limit = UINT64_MAX,
                            .dropped = {UINT64_MAX - 1, 0},
                            .results = UINT64_MAX,
                            .result_bytes = UINT64_MAX};
    output_budget_tell(&budget, "command", text);
    assert_string_equal(text + strlen(text) - 6, " bytes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_limit_all_passes),
        cmocka_unit_test(the_limit_itself_passes),
        cmocka_unit_test(nothing_follows_a_gap),
        cmocka_unit_test(what_is_no_utf8_is_cut_anywhere),
        cmocka_unit_test(short_pieces_count_for_more),
        cmocka_unit_test(results_stand_each_for_itself),
        cmocka_unit_test(the_first_error_passes_when_it_is_no_bomb),
        cmocka_unit_test(the_largest_numbers_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
