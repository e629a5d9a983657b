/* Versions of what runs in a sandbox. */
#include "address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void versions_are_compared_as_numbers(void **state) {
    (void)state;
    static const struct {
        const char *version;
        bool is_new;
    } cases[] = {{"0.4.0", true},   {"0.10.0", true}, {"1.0", true},      {"v0.4.1", true},
                 {"0.3.99", false}, {"0.4", false},   {"0.2", false},     {"", false},
                 {"x", false},      {NULL, false},    {"0.4.0-rc1", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sbi_address address = {.version = (char *)cases[i].version};
        assert_int_equal(sbi_address_has_version(&address, 0, 4, 0), cases[i].is_new);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_compared_as_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
