/* directory_walk_test.c - directories that can be opened and not read. */
#include "directory_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <string.h>

static walk_result next(directory_walk *walk) {
    walk_result result;
    do
        result = directory_walk_next(walk);
    while (result == WALK_BUSY);
    return result;
}

/* The kernel has such directories for who may see a process but not trace it. */
static void goes_on_behind_a_directory_that_it_may_not_read(void **state) {
    (void)state;
    DIR *closed = opendir("/proc/1/map_files");
    errno = 0;
    while (closed && readdir(closed))
        ;
    int error = errno;
    if (closed)
        closedir(closed);
    if (!closed || error != EACCES)
        skip();
    directory_walk *walk = directory_walk_open("/proc/1", 10000);
    assert_non_null(walk);
    do
        assert_int_equal(next(walk), WALK_ENTRY);
    while (strcmp(directory_walk_below(walk), "/map_files") != 0);
    assert_int_equal(directory_walk_enter(walk), 0);
    assert_int_equal(next(walk), WALK_ENTRY);
    assert_int_equal(directory_walk_depth(walk), 1);
    assert_true(strcmp(directory_walk_below(walk), "/map_files") > 0);
    directory_walk_free(walk);
    /* At the top there is nothing else to show. */
    walk = directory_walk_open("/proc/1/map_files", 10000);
    assert_non_null(walk);
    assert_int_equal(next(walk), WALK_FAILED);
    assert_int_equal(errno, EACCES);
    directory_walk_free(walk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_behind_a_directory_that_it_may_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
