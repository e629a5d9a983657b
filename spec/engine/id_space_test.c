/* Slices of the host's ids do not overlap, and their maps have what a sandbox needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "id_space.h"

static void slices_follow_each_other(void **state) {
    (void)state;
    struct id_space space = {.kind = IDS_SUBORDINATE,
                             .first_uid = 100000,
                             .first_gid = 200000,
                             .slices = 3,
                             .slice = 1024,
                             .keeper_uid = 500,
                             .keeper_gid = 501};
    struct sandbox_ids ids;
    char text[ID_MAP_SIZE];
    for (uint32_t i = 0; i < 7; i++) {
        id_space_cut(&space, i, &ids);
        assert_int_equal(ids.uid, 100000 + i % 3 * 1024);
        assert_int_equal(ids.gid, 200000 + i % 3 * 1024);
        assert_int_equal(ids.count, 1024);
        assert_int_equal(ids.keeper_uid, 500);
    }
    id_space_cut(&space, 2, &ids);
    sandbox_ids_map(&ids, false, text);
    assert_string_equal(text, "0 102048 1024\n");
    sandbox_ids_map(&ids, true, text);
    assert_string_equal(text, "0 202048 1024\n");
}

static void the_smallest_slice_has_both_users(void **state) {
    (void)state;
    struct id_space space = {
        .kind = IDS_ROOT_RANGE, .first_uid = 60708, .first_gid = 60708, .slices = 238, .slice = 2};
    struct sandbox_ids ids;
    char text[ID_MAP_SIZE];
    id_space_cut(&space, 1, &ids);
    sandbox_ids_map(&ids, false, text);
    assert_string_equal(text, "0 60710 1\n1000 60711 1\n");
}

static void one_id_is_our_own(void **state) {
    (void)state;
    struct id_space space = {.kind = IDS_SINGLE, .keeper_uid = 1234, .keeper_gid = 4321};
    struct sandbox_ids ids;
    char text[ID_MAP_SIZE];
    id_space_cut(&space, 77, &ids);
    sandbox_ids_map(&ids, false, text);
    assert_string_equal(text, "0 1234 1\n");
    sandbox_ids_map(&ids, true, text);
    assert_string_equal(text, "0 4321 1\n");
}

static void what_the_host_offers_is_never_its_own_root(void **state) {
    (void)state;
    struct id_space space;
    struct sandbox_ids ids;
    int found = id_space_find(&space);
    if (found < 0)
        skip(); /* root with no other ids at all: sandboxes are refused */
    assert_true(space.kind != IDS_SINGLE || geteuid() != 0 || space.why[0]);
    for (uint32_t i = 0; space.kind != IDS_SINGLE && i < space.slices; i++) {
        id_space_cut(&space, i, &ids);
        assert_true(ids.uid >= 1000 && ids.gid >= 1000);
        assert_true(ids.uid + ids.count > ids.uid); /* no wrap to 0 */
        assert_true(ids.keeper_uid != 0);
        assert_true(ids.keeper_uid < ids.uid || ids.keeper_uid >= ids.uid + ids.count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_follow_each_other),
        cmocka_unit_test(the_smallest_slice_has_both_users),
        cmocka_unit_test(one_id_is_our_own),
        cmocka_unit_test(what_the_host_offers_is_never_its_own_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
