/* watch_tree_test.c - the directories of a watch; kinds of mounts. */
#include "watch_tree.h"

#include "mount_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

static void expect_path(const watch_node *node, const char *name, const char *expected) {
    char path[PATH_MAX];
    assert_true(watch_tree_path(node, name, path, sizeof path));
    assert_string_equal(path, expected);
}

static void finds_and_names_directories(void **state) {
    (void)state;
    watch_tree tree = {0};
    assert_null(watch_tree_find(&tree, 1));
    watch_node *root = watch_tree_add(&tree, NULL, "", 1);
    watch_node *a = watch_tree_add(&tree, root, "a", 2), *b = watch_tree_add(&tree, a, "b c", 3);
    assert_ptr_equal(watch_tree_find(&tree, 3), b);
    assert_null(watch_tree_find(&tree, 4));
    assert_null(watch_tree_find(&tree, -1));
    assert_ptr_equal(watch_tree_child(root, "a"), a);
    assert_null(watch_tree_child(root, "b c"));
    expect_path(root, "", ".");
    expect_path(root, "f", "f");
    expect_path(b, "", "a/b c");
    expect_path(b, "f\n", "a/b c/f\n");
    watch_tree_free(&tree);
}

static void moves_directories(void **state) {
    (void)state;
    watch_tree tree = {0};
    watch_node *root = watch_tree_add(&tree, NULL, "", 1);
    watch_node *a = watch_tree_add(&tree, root, "a", 2), *b = watch_tree_add(&tree, a, "b", 3);
    watch_node *c = watch_tree_add(&tree, root, "c", 4);
    assert_true(watch_tree_move(a, c, "moved"));
    expect_path(b, "f", "c/moved/b/f");
    assert_null(watch_tree_child(root, "a"));
    assert_false(watch_tree_move(c, b, "circle"));
    assert_false(watch_tree_move(c, c, "circle"));
    expect_path(c, "", "c");
    watch_tree_free(&tree);
}

static void add_up(int wd, void *user) {
    *(long *)user += wd;
}

static void forgets_all_below(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    watch_tree tree = {0};
    long sum = 0, expected = 0;
    watch_node *root = watch_tree_add(&tree, NULL, "", 1);
    watch_node *other = watch_tree_add(&tree, root, "other", 2);
    watch_node *top = watch_tree_add(&tree, root, "top", 3), *node = top;
    for (int wd = 4; wd < COUNT; wd++) {
        node = watch_tree_add(&tree, wd % 3 ? node : top, "d", wd);
        assert_non_null(node);
        expected += wd;
    }
    watch_tree_remove(&tree, top, add_up, &sum);
    assert_true(sum == expected + 3);
    assert_int_equal(tree.count, 2);
    assert_null(watch_tree_find(&tree, 3));
    assert_null(watch_tree_find(&tree, COUNT - 1));
    assert_ptr_equal(watch_tree_find(&tree, 2), other);
    assert_null(watch_tree_child(root, "top"));
    watch_tree_free(&tree);
}

static void knows_paths_that_are_too_long(void **state) {
    (void)state;
    watch_tree tree = {0};
    char path[64], name[61];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    watch_node *root = watch_tree_add(&tree, NULL, "", 1);
    watch_node *a = watch_tree_add(&tree, root, "a", 2);
    assert_true(watch_tree_path(root, name, path, sizeof path));
    assert_true(watch_tree_path(a, name, path, sizeof path));
    watch_node *b = watch_tree_add(&tree, a, "b", 3);
    assert_false(watch_tree_path(b, name, path, sizeof path));
    watch_tree_free(&tree);
}

static void knows_kinds_of_mounts(void **state) {
    (void)state;
    static const long network[] = {0x6969, 0xff534d42, 0xfe534d42, 0x517b, 0x65735546};
    static const long others[] = {0x01021994, 0xef53, 0x9123683e, 0x794c7630, 0};
    struct statfs mount = {0};
    for (size_t i = 0; i < sizeof network / sizeof *network; i++) {
        mount.f_type = network[i];
        assert_true(mount_is_network(&mount));
        mount.f_type = (int)network[i]; /* as 32-bit systems have it */
        assert_true(mount_is_network(&mount));
        assert_false(mount_is_kernel(&mount));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        mount.f_type = others[i];
        assert_false(mount_is_network(&mount));
        assert_false(mount_is_kernel(&mount));
    }
    assert_int_equal(statfs("/proc", &mount), 0);
    assert_true(mount_is_kernel(&mount));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_and_names_directories),
        cmocka_unit_test(moves_directories),
        cmocka_unit_test(forgets_all_below),
        cmocka_unit_test(knows_paths_that_are_too_long),
        cmocka_unit_test(knows_kinds_of_mounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
