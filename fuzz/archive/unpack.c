/* Tar streams of a sandbox: nothing outside of the directory is made, changed or read into it, and
 * what is made inside are files, directories and links that nobody else may write. */
#include "stepbox_archive.h"

#include "../fuzz.h"

#include <fcntl.h>
#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 512

static char base[64]; /* of this process: "outside/secret" and "into" */

static void at(char path[200], const char *name) {
    snprintf(path, 200, "%s/%s", base, name);
}

static void remove_tree(const char *path) {
    char *const paths[] = {(char *)path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    while (tree && (entry = fts_read(tree)) != NULL) {
        if (entry->fts_info == FTS_D)
            chmod(entry->fts_accpath, 0700);
        else if (entry->fts_info == FTS_DP)
            rmdir(entry->fts_accpath);
        else
            unlink(entry->fts_accpath);
    }
    if (tree)
        fts_close(tree);
}

static void remove_base(void) {
    remove_tree(base);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    char path[200];
    (void)argc, (void)argv;
    strcpy(base, "/tmp/stepbox-fuzz-XXXXXX");
    FUZZ_CHECK(mkdtemp(base));
    atexit(remove_base);
    at(path, "outside");
    FUZZ_CHECK(mkdir(path, 0755) == 0);
    at(path, "outside/secret");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    FUZZ_CHECK(fd >= 0 && write(fd, "secret", 6) == 6 && close(fd) == 0);
    return 0;
}

static void look(const char *name, struct stat *status) {
    char path[200];
    at(path, name);
    FUZZ_CHECK(lstat(path, status) == 0);
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_mode == b->st_mode && a->st_nlink == b->st_nlink &&
           a->st_size == b->st_size && a->st_uid == b->st_uid &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* What links and members may be aimed at. */
static void prepare(void) {
    char path[200], target[200];
    at(path, "into");
    FUZZ_CHECK(mkdir(path, 0755) == 0);
    at(path, "into/out");
    FUZZ_CHECK(symlink("../outside", path) == 0);
    at(path, "into/s");
    at(target, "outside/secret");
    FUZZ_CHECK(symlink(target, path) == 0);
}

static void check_inside(void) {
    char path[200];
    at(path, "into");
    char *const paths[] = {path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    FUZZ_CHECK(tree);
    while ((entry = fts_read(tree)) != NULL) {
        const struct stat *status = entry->fts_statp;
        if (entry->fts_info == FTS_DNR || entry->fts_level == 0)
            continue;
        FUZZ_CHECK(S_ISREG(status->st_mode) || S_ISDIR(status->st_mode) ||
                   S_ISLNK(status->st_mode));
        FUZZ_CHECK(S_ISLNK(status->st_mode) || !(status->st_mode & 06002));
        FUZZ_CHECK(status->st_uid == geteuid());
    }
    fts_close(tree);
}

/* Numbers in headers of tar are octal digits. */
static size_t octal(const char *text, size_t length) {
    size_t value = 0;
    for (size_t i = 0; i < length && text[i] >= '0' && text[i] <= '7'; i++)
        value = value << 3 | (size_t)(text[i] - '0');
    return value;
}

/* Gives each header the checksum that it should have: guessing that would take for ever. */
static void mend_checksums(char *bytes, size_t length) {
    for (size_t block = 0; length - block >= BLOCK && block < length;) {
        unsigned char *header = (unsigned char *)bytes + block;
        unsigned sum = 0;
        if (header[0] != '\0') {
            memset(header + 148, ' ', 8);
            for (size_t i = 0; i < BLOCK; i++)
                sum += header[i];
            snprintf((char *)header + 148, 8, "%06o", sum);
        }
        size_t size = octal((char *)header + 124, 12);
        size_t skipped = (size / BLOCK + (size % BLOCK != 0) + 1) * BLOCK;
        if (size > length || skipped > length - block)
            break;
        block += skipped;
    }
}

static void unpack(const char *bytes, size_t count, unsigned how) {
    char path[200], *piece;
    size_t length;
    int status = 0;
    sb_error error = {0};
    at(path, "into");
    sb_unpack *unpacking = sb_unpack_new(path, &error);
    FUZZ_CHECK(unpacking);
    struct fuzz_pieces pieces = fuzz_pieces(bytes, count, how);
    while (status == 0 && fuzz_next(&pieces, &piece, &length))
        status = sb_unpack_write(unpacking, piece, length, &error);
    fuzz_stop(&pieces);
    if (status == 0)
        status = sb_unpack_end(unpacking, &error);
    FUZZ_CHECK((status == 0) == (error.code == SB_OK));
    FUZZ_CHECK(status == 0 || (error.message[0] && fuzz_is_printable(error.message)));
    sb_unpack_free(unpacking);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct fuzz_input input = fuzz_input(bytes, length);
    struct stat outside, secret, outside_now, secret_now;
    char path[200], *copy;
    unsigned how = fuzz_byte(&input);
    copy = fuzz_copy(input.bytes, input.length);
    if (how & 0x80)
        mend_checksums(copy, input.length);
    prepare();
    look("outside", &outside);
    look("outside/secret", &secret);
    unpack(copy, input.length, how & 0x7f);
    look("outside", &outside_now);
    look("outside/secret", &secret_now);
    FUZZ_CHECK(is_same(&outside, &outside_now) && is_same(&secret, &secret_now));
    check_inside();
    at(path, "into");
    remove_tree(path);
    /* Nothing beside it either. */
    FUZZ_CHECK(stat(base, &outside) == 0 && outside.st_nlink <= 3);
    free(copy);
    return 0;
}
