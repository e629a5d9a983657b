/* Tar streams made of directories. */
#include "directory.h"
#include "stepbox_archive.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>
#include <cmocka.h>

/* Packs d->path to the file `out` in top, in pieces. */
static sb_code pack(struct directory *d, size_t piece, sb_error *err) {
    char path[200], *bytes = malloc(piece);
    snprintf(path, sizeof path, "%s/out", d->top);
    FILE *out = fopen(path, "w");
    *err = (sb_error){0};
    sb_pack *pack = sb_pack_new(d->path, err);
    int64_t count = -1;
    while (pack != NULL && (count = sb_pack_read(pack, bytes, piece, err)) > 0) {
        assert_true((size_t)count <= piece);
        fwrite(bytes, 1, (size_t)count, out);
    }
    assert_int_equal(count == 0, err->code == SB_OK);
    fclose(out);
    sb_pack_free(pack);
    free(bytes);
    return err->code;
}

static void check(struct directory *d, const char *line) {
    if (!directory_holds(d, line)) {
        fail_msg("not so: %s", line);
    }
}

/* Packs, and unpacks with GNU tar: the trees must be alike in everything, and tar silent. */
static void check_round_trip(struct directory *d, size_t piece) {
    sb_error err;
    assert_int_equal(pack(d, piece, &err), SB_OK);
    check(d, "rm -rf copy && mkdir copy && chmod --reference=in copy && "
             "test -z \"$(tar -C copy -xpf out 2>&1)\"");
    check(d, "for tree in in copy; do (cd $tree && find . -mindepth 1 -printf "
             "'%p %y %m %l %T@ %s\\n' | grep -v '^[^ ]* d' | LC_ALL=C sort > ../$tree.list); done; "
             "cmp in.list copy.list && diff -r --no-dereference in copy");
}

static void directories_files_and_links_come_back_alike(void **state) {
    struct directory *d = *state;
    check(d, "mkdir -p in/a/b/c in/empty in/a.b && echo deep > in/a/b/c/file && : > in/none && "
             "head -c 300000 /dev/urandom > in/large && ln -s ../nowhere in/a/link && "
             "ln -s / in/root && chmod 755 in/a && chmod 640 in/large && chmod 700 in/empty && "
             "touch -d '2001-02-03 04:05:06.789012345' in/large in/a/b");
    static const size_t pieces[] = {1000, 512, 1, 1000000};
    for (size_t i = 0; i < 4; i++) {
        check_round_trip(d, pieces[i]);
    }
    check(d, "test $(stat -c %Y copy/a/b) = $(stat -c %Y in/a/b)");
}

static void names_of_any_bytes_come_back_in_any_locale(void **state) {
    struct directory *d = *state;
    check(d, "mkdir -p \"in/$(printf 'caf\\303\\251 e\\314\\201')\" && "
             "touch \"in/$(printf ' a\\nb\\t*')\" in/-x");
    static const char *const locales[] = {"C", "C.UTF-8"};
    for (size_t i = 0; i < 2; i++) {
        setlocale(LC_ALL, locales[i]);
        check_round_trip(d, 700);
    }
    setlocale(LC_ALL, "C");
    /* Those that are no UTF-8 come back too; of them tar has something to say. */
    sb_error err;
    check(d, "touch \"in/$(printf 'caf\\351\\377')\"");
    assert_int_equal(pack(d, 700, &err), SB_OK);
    check(d, "mkdir bytes && tar -C bytes -xpf out 2>/dev/null && diff -r in bytes");
}

static void the_order_is_that_of_the_names(void **state) {
    struct directory *d = *state;
    sb_error err;
    check(d, "mkdir -p in/b in/a && touch in/b/2 in/b/10 in/c in/B in/a/z");
    assert_int_equal(pack(d, 1000, &err), SB_OK);
    check(d, "test \"$(echo $(tar -tf out))\" = 'B a/ a/z b/ b/10 b/2 c'");
}

static void what_is_neither_is_left_out(void **state) {
    struct directory *d = *state;
    sb_error err;
    check(d, "mkdir in && mkfifo in/pipe && touch in/file && "
             "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"in/socket\")'");
    assert_int_equal(pack(d, 1000, &err), SB_OK);
    check(d, "test \"$(tar -tf out)\" = file");
}

static void links_are_not_followed(void **state) {
    struct directory *d = *state;
    sb_error err;
    check(d, "mkdir in outside && echo hidden > outside/secret && ln -s ../outside in/d && "
             "ln -s ../outside/secret in/f");
    assert_int_equal(pack(d, 1000, &err), SB_OK);
    check(d, "! grep -q hidden out && test \"$(echo $(tar -tf out))\" = 'd f'");
}

static void a_deep_tree_needs_few_descriptors(void **state) {
    struct directory *d = *state;
    struct rlimit before, few = {24, 24};
    sb_error err;
    check(d,
          "mkdir in && python3 -c '\nimport os\nos.chdir(\"in\")\nfor i in range(600):\n"
          "    os.mkdir(\"d\" * 20); os.chdir(\"d\" * 20)\nopen(\"leaf\", \"w\").write(\"deep\")'");
    getrlimit(RLIMIT_NOFILE, &before);
    few.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_NOFILE, &few);
    sb_code code = pack(d, 4096, &err);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(code, SB_OK);
    check(d, "test $(tar -tf out | tail -n 1 | wc -c) -gt 12000");
}

static size_t file_in(const struct directory *d, const char *name, char *path, size_t size) {
    return (size_t)snprintf(path, size, "%s/%s", d->path, name);
}

/* Reads a first piece of the archive of one file, lets the file change, and reads the rest. */
static void change_while_packing(struct directory *d, const char *change) {
    char path[200], *bytes = malloc(4000000);
    sb_error err;
    sb_pack *pack = sb_pack_new(d->path, &err);
    assert_int_equal(sb_pack_read(pack, bytes, 2000, &err), 2000);
    check(d, change);
    int64_t length = 2000, count;
    while ((count = sb_pack_read(pack, bytes + length, 4000000 - (size_t)length, &err)) > 0) {
        length += count;
    }
    assert_int_equal(count, 0);
    file_in(d, "../out", path, sizeof path);
    FILE *out = fopen(path, "w");
    fwrite(bytes, 1, (size_t)length, out);
    fclose(out);
    sb_pack_free(pack);
    free(bytes);
}

static void a_file_that_grows_is_cut_to_what_was_announced(void **state) {
    check(*state, "mkdir in && head -c 1000000 /dev/zero > in/f && echo after > in/g");
    change_while_packing(*state, "head -c 1000000 /dev/urandom >> in/f");
    check(*state, "tar -xf out && test $(stat -c %s f) = 1000000 && grep -qx after g");
}

static void a_file_that_shrinks_is_filled_up(void **state) {
    check(*state, "mkdir in && head -c 1000000 /dev/zero > in/f && echo after > in/g");
    change_while_packing(*state, "truncate -s 10 in/f");
    check(*state, "tar -xf out && test $(stat -c %s f) = 1000000 && grep -qx after g");
}

static void what_goes_away_is_left_out(void **state) {
    check(*state,
          "mkdir -p in/d/e && head -c 1000000 /dev/zero > in/a && touch in/b in/d/e/f in/z");
    change_while_packing(*state, "rm -r in/b in/d");
    check(*state, "test \"$(echo $(tar -tf out))\" = 'a z'");
}

static void a_directory_that_is_swapped_for_a_link_is_not_entered(void **state) {
    check(*state, "mkdir -p in/d outside && echo x > outside/secret && "
                  "head -c 1000000 /dev/zero > in/a");
    change_while_packing(*state, "rmdir in/d && ln -s ../outside in/d");
    check(*state, "test \"$(echo $(tar -tf out))\" = 'a d'");
}

static void a_directory_that_is_none_is_told(void **state) {
    struct directory *d = *state;
    sb_error err;
    assert_null(sb_pack_new(d->path, &err));
    assert_int_equal(err.code, SB_NOT_FOUND);
    check(d, "touch in");
    assert_null(sb_pack_new(d->path, &err));
    assert_int_equal(err.code, SB_NOT_DIRECTORY);
    assert_null(sb_pack_new("", &err));
    assert_int_equal(err.code, SB_BAD_PATH);
    sb_pack_free(NULL);
}

static void one_that_is_not_read_to_its_end_can_be_freed(void **state) {
    struct directory *d = *state;
    char bytes[3000];
    check(d, "mkdir in && head -c 1000000 /dev/zero > in/f && truncate -s 100G in/g");
    for (size_t length = 0; length < 3000; length += 500) {
        sb_pack *pack = sb_pack_new(d->path, NULL);
        sb_pack_read(pack, bytes, length, NULL);
        sb_pack_free(pack);
    }
}

static void what_it_makes_it_can_unpack(void **state) {
    struct directory *d = *state;
    char path[200], bytes[5000];
    sb_error err;
    check(d, "mkdir -p in/a/b && echo x > in/a/b/c && ln -s b in/a/l && chmod 500 in/a/b && "
             "touch -d 2001-01-01 in/a/b in/a && touch \"in/$(printf '\\303\\251\\377')\"");
    file_in(d, "../copy", path, sizeof path);
    sb_pack *pack = sb_pack_new(d->path, &err);
    sb_unpack *unpack = sb_unpack_new(path, &err);
    int64_t count;
    while ((count = sb_pack_read(pack, bytes, sizeof bytes, &err)) > 0) {
        assert_int_equal(sb_unpack_write(unpack, bytes, (size_t)count, &err), 0);
    }
    assert_int_equal(sb_unpack_end(unpack, &err), 0);
    sb_pack_free(pack);
    sb_unpack_free(unpack);
    check(d, "diff -r --no-dereference in copy && test $(stat -c %a copy/a/b) = 500 && "
             "test $(stat -c %Y copy/a) = $(stat -c %Y in/a)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, directory_set_up, directory_tear_down)

int main(void) {
    umask(022);
    const struct CMUnitTest tests[] = {
        TEST(directories_files_and_links_come_back_alike),
        TEST(names_of_any_bytes_come_back_in_any_locale),
        TEST(the_order_is_that_of_the_names),
        TEST(what_is_neither_is_left_out),
        TEST(links_are_not_followed),
        TEST(a_deep_tree_needs_few_descriptors),
        TEST(a_file_that_grows_is_cut_to_what_was_announced),
        TEST(a_file_that_shrinks_is_filled_up),
        TEST(what_goes_away_is_left_out),
        TEST(a_directory_that_is_swapped_for_a_link_is_not_entered),
        TEST(a_directory_that_is_none_is_told),
        TEST(one_that_is_not_read_to_its_end_can_be_freed),
        TEST(what_it_makes_it_can_unpack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
