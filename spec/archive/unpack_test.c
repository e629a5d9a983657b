/* Directories made of tar streams, most of them hostile. */
#include "directory.h"
#include "stepbox_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <locale.h>
#include <cmocka.h>

#define MAX_ARCHIVE (1024 * 1024)

struct bytes {
    char *data;
    size_t length;
};

static struct bytes made(const char *name) {
    char command[500];
    const char *root = getenv("STEPBOX_ROOT");
    snprintf(command, sizeof command, "/usr/bin/env python3 %s/spec/archive/hostile.py %s",
             root != NULL ? root : ".", name);
    FILE *pipe = popen(command, "r");
    struct bytes archive = {malloc(MAX_ARCHIVE), 0};
    archive.length = fread(archive.data, 1, MAX_ARCHIVE, pipe);
    assert_int_equal(pclose(pipe), 0);
    return archive;
}

/* Unpacks into d->path, in pieces. */
static sb_code unpack_bytes(struct directory *d, const char *bytes, size_t length, size_t piece,
                            sb_error *err) {
    *err = (sb_error){0};
    sb_unpack *unpack = sb_unpack_new(d->path, err);
    assert_non_null(unpack);
    int status = 0;
    for (size_t at = 0; at < length && status == 0; at += piece) {
        /* A copy that is freed at once: nothing may be kept of it. */
        size_t count = length - at < piece ? length - at : piece;
        char *copy = malloc(count);
        memcpy(copy, bytes + at, count);
        status = sb_unpack_write(unpack, copy, count, err);
        free(copy);
    }
    if (status == 0) {
        status = sb_unpack_end(unpack, err);
    }
    assert_int_equal(status == 0, err->code == SB_OK);
    sb_unpack_free(unpack);
    return err->code;
}

static sb_code unpack(struct directory *d, const char *name, sb_error *err) {
    struct bytes archive = made(name);
    sb_code code = unpack_bytes(d, archive.data, archive.length, 1000, err);
    free(archive.data);
    return code;
}

static void check(struct directory *d, const char *name, sb_code code, const char *holds) {
    sb_error err;
    sb_code got = unpack(d, name, &err);
    if (got != code) {
        fail_msg("%s: %s (%s)", name, sb_code_name(got), err.message);
    }
    if (!directory_holds(d, holds)) {
        fail_msg("%s: not so: %s", name, holds);
    }
}

static void names_that_lead_out_are_refused(void **state) {
    static const char *const names[] = {"absolute",         "dotdot",       "inner_dotdot",
                                        "dotdot_directory", "endless_name", "empty_name"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        check(*state, names[i], SB_BAD_PATH,
              "test ! -e escape && test ! -e /tmp/stepbox-escape && test ! -e in/escape");
    }
}

static void nothing_is_written_through_a_symbolic_link(void **state) {
    check(*state, "symlink_then_file", SB_BAD_PATH, "test ! -e escape && test -L in/link");
    check(*state, "symlink_absolute_then_file", SB_BAD_PATH, "test ! -e /tmp/escape");
    check(*state, "symlink_then_same_name", SB_OK,
          "test ! -e escape && test ! -L in/link && grep -qx inside in/link");
    check(*state, "symlink_then_directory", SB_OK, "test ! -e inside && test -f in/link/inside");
    check(*state, "directory_then_symlink", SB_BAD_PATH, "test ! -e escape");
    check(*state, "directory_mode_through_symlink", SB_OK,
          "test -L in/d && test $(stat -c %a .) = 700");
}

static void a_link_that_was_there_before_is_not_followed_either(void **state) {
    struct directory *d = *state;
    assert_true(directory_holds(d, "mkdir in && ln -s .. in/x"));
    check(d, "file_as_directory", SB_NOT_DIRECTORY, "test ! -e y && test -f in/x");
    assert_true(directory_holds(d, "rm in/x && ln -s .. in/x"));
    check(d, "full_directory_then_file", SB_BAD_PATH, "test ! -e y");
}

static void hard_links_reach_nothing_outside(void **state) {
    struct directory *d = *state;
    assert_true(directory_holds(d, "echo secret > secret"));
    check(d, "hard_link_outside", SB_BAD_PATH, "test ! -e in/h");
    check(d, "hard_link_absolute", SB_BAD_PATH, "test ! -e in/h");
    check(d, "hard_link_through_symlink", SB_BAD_PATH, "test ! -e in/h");
    assert_true(directory_holds(d, "rm in/link"));
    check(d, "hard_link_to_symlink", SB_BAD_PATH, "test ! -e in/h");
    check(d, "hard_link_to_nothing", SB_NOT_FOUND, "test $(stat -c %h secret) = 1");
}

static void hard_links_inside_are_made_and_not_written_through(void **state) {
    check(*state, "hard_link_inside", SB_OK, "grep -qx once in/d/a && grep -qx new in/b");
    check(*state, "hard_link_to_itself", SB_OK, "grep -qx kept in/h");
}

static void devices_and_pipes_are_left_out(void **state) {
    check(*state, "devices", SB_OK, "test \"$(ls in)\" = after");
}

static void set_id_bits_and_owners_are_taken_away(void **state) {
    check(*state, "set_id", SB_OK,
          "test $(stat -c %a in/s) = 755 && test $(stat -c %a in/d) = 755 && test -O in/s");
}

static void nothing_is_left_for_everybody_to_write(void **state) {
    check(*state, "world_writable", SB_OK,
          "test $(stat -c %a in/f) = 764 && test $(stat -c %a in/d) = 775");
}

static void a_name_may_come_again_as_another_kind(void **state) {
    struct directory *d = *state;
    check(d, "file_then_directory", SB_OK, "grep -qx below in/x/y");
    assert_true(directory_holds(d, "rm -r in/x"));
    check(d, "directory_then_file", SB_OK, "grep -qx file in/x");
    assert_true(directory_holds(d, "rm in/x"));
    check(d, "full_directory_then_file", SB_IS_DIRECTORY, "grep -qx below in/x/y");
    assert_true(directory_holds(d, "rm -r in/x"));
    check(d, "file_as_directory", SB_NOT_DIRECTORY, "grep -qx file in/x");
}

static void long_and_deep_names_are_made(void **state) {
    struct directory *d = *state;
    check(d, "long_name", SB_OK, "test $(find in -type f | wc -c) -gt 6000");
    check(d, "deep", SB_OK, "true");
    check(d, "long_component", SB_BAD_PATH, "true");
    check(d, "gnu", SB_OK, "test $(readlink in/l | wc -c) = 151 && ls in/g | grep -q nnn");
}

static void names_are_bytes_in_any_locale(void **state) {
    struct directory *d = *state;
    static const char *const locales[] = {"C", "C.UTF-8", "en_US.ISO-8859-1"};
    for (size_t i = 0; i < 3; i++) {
        setlocale(LC_ALL, locales[i]);
        sb_error err;
        assert_int_equal(unpack(d, "bytes", &err), SB_OK);
        DIR *directory = opendir(d->path);
        size_t found = 0;
        for (struct dirent *e; (e = readdir(directory)) != NULL;) {
            found += strcmp(e->d_name, "caf\xe9 \xc3\xa9 e\xcc\x81\n\xff") == 0;
        }
        closedir(directory);
        assert_int_equal(found, 1);
        assert_true(directory_holds(d, "rm -r in"));
    }
    setlocale(LC_ALL, "C");
}

static void the_directory_itself_is_left_as_it_is(void **state) {
    check(*state, "root_entry", SB_OK, "test $(stat -c %a in) = 755 && test -f in/a");
}

static void modes_and_times_of_directories_are_set_last(void **state) {
    check(*state, "read_only_directory", SB_OK,
          "test -f in/r/b/c && test -f in/s && test $(stat -c %a in/r) = 555 && "
          "test $(stat -c %Y in/r) = 1000000000 && test $(stat -c %Y in/s) = 1000000000");
}

static void announced_sizes_are_not_believed(void **state) {
    check(*state, "huge", SB_PROTOCOL, "test ! -e in/huge");
    check(*state, "huge_pax_header", SB_PROTOCOL, "test -z \"$(ls -A in)\"");
}

static void rubbish_is_refused(void **state) {
    struct directory *d = *state;
    sb_error err;
    char rubbish[5000];
    unsigned seed = 1;
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof rubbish; i++) {
            seed = seed * 1103515245 + 12345;
            rubbish[i] = (char)(seed >> 16);
        }
        assert_int_equal(unpack_bytes(d, rubbish, sizeof rubbish, 700, &err), SB_PROTOCOL);
    }
    assert_int_equal(unpack_bytes(d, "x", 1, 1, &err), SB_PROTOCOL);
    assert_int_equal(unpack_bytes(d, "", 0, 1, &err), SB_PROTOCOL);
    assert_true(directory_holds(d, "test -z \"$(ls -A in)\""));
}

static void a_stream_that_is_cut_anywhere_is_no_success(void **state) {
    struct directory *d = *state;
    sb_error err;
    struct bytes archive = made("hard_link_inside");
    size_t end = archive.length;
    while (archive.data[end - 1] == '\0') {
        end--;
    }
    end = (end + 511) / 512 * 512 + 1024; /* behind the two blocks that end it there is padding */
    for (size_t length = 0; length < end; length += 97) {
        assert_int_equal(unpack_bytes(d, archive.data, length, 4096, &err), SB_PROTOCOL);
    }
    assert_int_equal(unpack_bytes(d, archive.data, end - 1, 4096, &err), SB_PROTOCOL);
    assert_int_equal(unpack_bytes(d, archive.data, end, 4096, &err), SB_OK);
    free(archive.data);
    check(d, "no_end", SB_PROTOCOL, "true");
}

static void pieces_may_be_of_any_size(void **state) {
    struct directory *d = *state;
    sb_error err;
    struct bytes archive = made("hard_link_inside");
    static const size_t pieces[] = {1, 511, 512, 513, 1000000};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        assert_int_equal(unpack_bytes(d, archive.data, archive.length, pieces[i], &err), SB_OK);
        assert_true(directory_holds(d, "grep -qx new in/b && rm -r in"));
    }
    free(archive.data);
}

static void half_a_file_is_taken_away(void **state) {
    struct directory *d = *state;
    sb_error err;
    struct bytes archive = made("hard_link_inside");
    assert_int_equal(unpack_bytes(d, archive.data, 514, 514, &err), SB_PROTOCOL);
    assert_true(directory_holds(d, "test ! -e in/d/a"));
    free(archive.data);
}

static void an_empty_archive_makes_an_empty_directory(void **state) {
    check(*state, "empty", SB_OK, "test -d in && test -z \"$(ls -A in)\"");
}

static void a_failure_stays(void **state) {
    struct directory *d = *state;
    sb_error err;
    sb_unpack *unpack = sb_unpack_new(d->path, &err);
    char rubbish[1024];
    memset(rubbish, 'x', sizeof rubbish);
    assert_int_equal(sb_unpack_write(unpack, rubbish, sizeof rubbish, &err), -1);
    assert_int_equal(sb_unpack_write(unpack, "x", 1, &err), -1);
    assert_int_equal(err.code, SB_PROTOCOL);
    assert_int_equal(sb_unpack_end(unpack, &err), -1);
    assert_int_equal(sb_unpack_end(unpack, &err), -1);
    assert_int_equal(err.code, SB_INVALID);
    sb_unpack_free(unpack);
}

static void one_that_is_not_ended_can_be_freed(void **state) {
    struct directory *d = *state;
    struct bytes archive = made("hard_link_inside");
    for (size_t length = 0; length < 3000; length += 300) {
        sb_unpack *unpack = sb_unpack_new(d->path, NULL);
        assert_int_equal(sb_unpack_write(unpack, archive.data, length, NULL), 0);
        sb_unpack_free(unpack);
    }
    free(archive.data);
    sb_unpack_free(NULL);
}

static void a_directory_that_cannot_be_made_is_told(void **state) {
    struct directory *d = *state;
    char path[200];
    sb_error err;
    assert_null(sb_unpack_new("", &err));
    assert_int_equal(err.code, SB_BAD_PATH);
    snprintf(path, sizeof path, "%s/no/such", d->top);
    assert_null(sb_unpack_new(path, &err));
    assert_int_equal(err.code, SB_NOT_FOUND);
    assert_true(directory_holds(d, "echo > in"));
    assert_null(sb_unpack_new(d->path, &err));
    assert_int_equal(err.code, SB_NOT_DIRECTORY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, directory_set_up, directory_tear_down)

int main(void) {
    umask(022);
    const struct CMUnitTest tests[] = {
        TEST(names_that_lead_out_are_refused),
        TEST(nothing_is_written_through_a_symbolic_link),
        TEST(a_link_that_was_there_before_is_not_followed_either),
        TEST(hard_links_reach_nothing_outside),
        TEST(hard_links_inside_are_made_and_not_written_through),
        TEST(devices_and_pipes_are_left_out),
        TEST(set_id_bits_and_owners_are_taken_away),
        TEST(nothing_is_left_for_everybody_to_write),
        TEST(a_name_may_come_again_as_another_kind),
        TEST(long_and_deep_names_are_made),
        TEST(names_are_bytes_in_any_locale),
        TEST(the_directory_itself_is_left_as_it_is),
        TEST(modes_and_times_of_directories_are_set_last),
        TEST(announced_sizes_are_not_believed),
        TEST(rubbish_is_refused),
        TEST(a_stream_that_is_cut_anywhere_is_no_success),
        TEST(pieces_may_be_of_any_size),
        TEST(half_a_file_is_taken_away),
        TEST(an_empty_archive_makes_an_empty_directory),
        TEST(a_failure_stays),
        TEST(one_that_is_not_ended_can_be_freed),
        TEST(a_directory_that_cannot_be_made_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
