/* entry_info_test.c - what is shown of files, links and others; metadata; names that are no text.
 */
#include "entry_info.h"

#include "json_text.h"
#include "metadata.h"
#include "user.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../support/guarded.h"

static char root[PATH_MAX];

static const char *below(const char *name) {
    static char path[PATH_MAX * 2];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static int make_file(const char *name, const char *text, mode_t mode) {
    int fd = open(below(name), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    return fd;
}

static void expect_member(const json_t *entry, const char *name, const char *value) {
    const char *text = json_string_value(json_object_get(entry, name));
    if (!value) {
        assert_null(json_object_get(entry, name));
        return;
    }
    assert_non_null(text);
    assert_string_equal(text, value);
}

static void shows_files(void **state) {
    (void)state;
    char owner[USER_NAME_SIZE];
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {1769860800, 5000}};
    close(make_file("file", "12345", 0640));
    assert_int_equal(utimensat(AT_FDCWD, below("file"), times, 0), 0);
    json_t *entry = entry_info(below("file"));
    expect_member(entry, "name", "file");
    expect_member(entry, "path", below("file"));
    expect_member(entry, "type", "FILE_TYPE_FILE");
    expect_member(entry, "size", "5");
    expect_member(entry, "permissions", "-rw-r-----");
    expect_member(entry, "modifiedTime", "2026-01-31T12:00:00.000005000Z");
    assert_int_equal(json_integer_value(json_object_get(entry, "mode")), 0640);
    user_name(getuid(), owner);
    expect_member(entry, "owner", owner);
    expect_member(entry, "symlinkTarget", NULL);
    assert_null(json_object_get(entry, "metadata"));
    json_decref(entry);
}

static void leaves_out_what_is_zero(void **state) {
    (void)state;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0, 0}};
    close(make_file("empty", "", 0));
    assert_int_equal(utimensat(AT_FDCWD, below("empty"), times, 0), 0);
    json_t *entry = entry_info(below("empty"));
    expect_member(entry, "size", NULL);
    expect_member(entry, "modifiedTime", "1970-01-01T00:00:00Z");
    expect_member(entry, "permissions", "----------");
    assert_null(json_object_get(entry, "mode"));
    json_decref(entry);
}

static void shows_permissions_as_go_does(void **state) {
    (void)state;
    assert_int_equal(mkdir(below("sticky"), 0700), 0);
    assert_int_equal(chmod(below("sticky"), 01777), 0);
    assert_int_equal(mkfifo(below("fifo"), 0600), 0);
    close(make_file("setuid", "", 06755));
    static const char *const cases[][3] = {
        {"sticky", "dtrwxrwxrwx", "FILE_TYPE_DIRECTORY"},
        {"fifo", "prw-------", NULL},
        {"setuid", "ugrwxr-xr-x", "FILE_TYPE_FILE"},
        {"/dev/null", "Dcrw-rw-rw-", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = cases[i][0];
        json_t *entry = entry_info(*path == '/' ? path : below(path));
        expect_member(entry, "permissions", cases[i][1]);
        expect_member(entry, "type", cases[i][2]);
        json_decref(entry);
    }
}

static void follows_links(void **state) {
    (void)state;
    char target[PATH_MAX * 2];
    assert_int_equal(mkdir(below("dir"), 0750), 0);
    assert_int_equal(symlink("dir", below("second")), 0);
    assert_int_equal(symlink("second", below("first")), 0);
    json_t *entry = entry_info(below("first"));
    snprintf(target, sizeof target, "%s", below("dir"));
    expect_member(entry, "type", "FILE_TYPE_DIRECTORY");
    expect_member(entry, "permissions", "Lrwxrwxrwx");
    expect_member(entry, "symlinkTarget", target);
    expect_member(entry, "name", "first");
    assert_int_equal(json_integer_value(json_object_get(entry, "mode")), 0750);
    json_decref(entry);
}

static void shows_links_that_lead_nowhere(void **state) {
    (void)state;
    static const char *const targets[] = {"no/where", "lost"}; /* the second is a circle */
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        assert_int_equal(symlink(targets[i], below("lost")), 0);
        json_t *entry = entry_info(below("lost"));
        expect_member(entry, "type", "FILE_TYPE_SYMLINK");
        expect_member(entry, "permissions", "Lrwxrwxrwx");
        expect_member(entry, "symlinkTarget", targets[i]);
        json_decref(entry);
        assert_int_equal(unlink(below("lost")), 0);
    }
}

static void tells_what_is_missing(void **state) {
    (void)state;
    assert_null(entry_info(below("missing")));
    assert_int_equal(errno, ENOENT);
    close(make_file("no-directory", "", 0600));
    assert_null(entry_info(below("no-directory/x")));
    assert_int_equal(errno, ENOTDIR);
}

static void shows_names_of_any_bytes(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"new\nline \"quoted\" \\", "new\nline \"quoted\" \\"},
        {"\xc3\xa9\xf0\x9f\x98\x80", "\xc3\xa9\xf0\x9f\x98\x80"},
        {"a\xff\xc3", "a\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        close(make_file(cases[i][0], "", 0600));
        json_t *entry = entry_info(below(cases[i][0]));
        expect_member(entry, "name", cases[i][1]);
        json_decref(entry);
    }
}

static void replaces_every_byte_of_no_character(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t replaced;
    } cases[] = {
        {"\x80", 1},         {"\xc0\x80", 2},         {"\xe0\x9f\x80", 3},
        {"\xed\xa0\x80", 3}, {"\xf4\x90\x80\x80", 4}, {"\xf5", 1},
        {"\xe2\x82", 2},     {"\xe2\x82\xac", 0},     {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = strlen(cases[i].bytes), found = 0;
        json_t *value = json_text(guarded(cases[i].bytes, length), length);
        assert_non_null(value);
        for (const char *at = json_string_value(value); (at = strstr(at, "\xef\xbf\xbd")); at++)
            found++;
        assert_int_equal(found, cases[i].replaced);
        json_decref(value);
    }
}

static void keeps_metadata(void **state) {
    (void)state;
    int fd = make_file("meta", "x", 0600);
    if (!metadata_supported(fd)) {
        close(fd);
        skip();
    }
    json_t *first = json_pack("{s:s, s:s}", "a", "1", "b", ""),
           *second = json_pack("{s:s}", "c d", "~");
    assert_int_equal(metadata_write(fd, first), 0);
    json_t *entry = entry_info(below("meta"));
    assert_true(json_equal(json_object_get(entry, "metadata"), first));
    json_decref(entry);
    assert_int_equal(metadata_write(fd, second), 0);
    json_t *read = metadata_read(below("meta"));
    assert_true(json_equal(read, second));
    json_decref(read);
    assert_int_equal(metadata_write(fd, NULL), 0);
    assert_null(metadata_read(below("meta")));
    json_decref(first);
    json_decref(second);
    close(fd);
}

static void refuses_metadata_that_cannot_be_kept(void **state) {
    (void)state;
    char key[METADATA_KEY_MAX + 2], text[300], big[METADATA_TOTAL_MAX];
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    memset(big, 'v', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    const struct {
        json_t *set;
        const char *fault;
    } cases[] = {
        {json_pack("{s:s}", "", "x"), "a metadata key is empty"},
        {json_pack("{s:s}", "\xc3\xa9", "x"),
         "a metadata key has bytes that are not printable ASCII"},
        {json_pack("{s:s}", "k", "a\nb"),
         "the metadata of 'k' has bytes that are not printable ASCII"},
        {json_pack("{s:i}", "k", 1), "the metadata of 'k' is not a string"},
        {json_pack("{s:s}", key, "x"), "longer than 246 bytes"},
        {json_pack("{s:s}", "k", big), "the metadata takes 4105 bytes, more than 4096"},
        {json_pack("[]"), "metadata must be an object of strings"},
        {json_pack("{s:s}", key + 1, "x"), NULL},
        {json_object(), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *fault = metadata_fault(cases[i].set, text, sizeof text);
        if (cases[i].fault) {
            assert_non_null(fault);
            assert_non_null(strstr(fault, cases[i].fault));
        } else {
            assert_null(fault);
        }
        json_decref(cases[i].set);
    }
}

static void knows_where_no_metadata_is_kept(void **state) {
    (void)state;
    int fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    json_t *set = json_pack("{s:s}", "a", "b");
    assert_true(fd >= 0);
    assert_false(metadata_supported(fd));
    assert_int_equal(metadata_write(fd, NULL), 0);
    assert_int_equal(metadata_write(fd, set), -1);
    json_decref(set);
    close(fd);
}

static void knows_its_users(void **state) {
    (void)state;
    assert_true(user_enter(NULL));
    assert_true(user_enter(""));
    assert_true(user_enter("user"));
    assert_false(user_enter("nobody-of-that-name"));
    char name[USER_NAME_SIZE];
    user_name(4000000000U, name);
    assert_string_equal(name, "4000000000");
    user_group_name(4000000001U, name);
    assert_string_equal(name, "4000000001");
}

static int set_up(void **state) {
    (void)state;
    char path[] = "/tmp/stepbox-entry-test.XXXXXX";
    return mkdtemp(path) && realpath(path, root) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[PATH_MAX + 20];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_files),
        cmocka_unit_test(leaves_out_what_is_zero),
        cmocka_unit_test(shows_permissions_as_go_does),
        cmocka_unit_test(follows_links),
        cmocka_unit_test(shows_links_that_lead_nowhere),
        cmocka_unit_test(tells_what_is_missing),
        cmocka_unit_test(shows_names_of_any_bytes),
        cmocka_unit_test(replaces_every_byte_of_no_character),
        cmocka_unit_test(keeps_metadata),
        cmocka_unit_test(refuses_metadata_that_cannot_be_kept),
        cmocka_unit_test(knows_where_no_metadata_is_kept),
        cmocka_unit_test(knows_its_users),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
