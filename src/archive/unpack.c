/* unpack.c - a tar stream as a directory.
 *
 * libarchive asks for bytes, and this interface is given them. A thread of the unpack's own does
 * the asking; it runs only while the caller waits in a call, so that nothing is copied or kept
 * between calls, a failure is told by the call whose bytes it is about, and no state is shared at
 * any time.
 */
#include "stepbox_archive.h"

#include "failure.h"
#include "member.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum turn { TURN_CALLER, TURN_THREAD };

struct sb_unpack {
    pid_t pid;
    sb_unpack *next_inherited; /* freed in a process that forked */
    int root;                  /* descriptor of the directory */
    struct archive *archive;
    struct left_open open;
    locale_t plain;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    enum turn turn;
    const char *bytes; /* the caller's; length 0: the stream has ended */
    size_t length;
    bool is_fresh;       /* the thread has not seen them yet */
    bool is_abandoned;   /* the thread is to end */
    bool has_run_out;    /* the archive wanted more than the stream had */
    bool has_ended;      /* the thread has */
    bool has_been_ended; /* sb_unpack_end() was called */
    sb_error failure;
};

/* Lets the other go on, and waits until it gives the turn back. */
static void pass_turn(sb_unpack *unpack, enum turn to) {
    pthread_mutex_lock(&unpack->lock);
    unpack->turn = to;
    pthread_cond_broadcast(&unpack->turned);
    while (unpack->turn == to) {
        pthread_cond_wait(&unpack->turned, &unpack->lock);
    }
    pthread_mutex_unlock(&unpack->lock);
}

/* Called in the thread: lets the caller go on, and waits for more. */
static la_ssize_t on_read(struct archive *archive, void *user, const void **bytes) {
    sb_unpack *unpack = user;
    if (unpack->has_run_out) {
        return 0;
    }
    if (!unpack->is_fresh) {
        pass_turn(unpack, TURN_CALLER);
    }
    unpack->is_fresh = false;
    if (unpack->is_abandoned) {
        archive_set_error(archive, ECANCELED, "abandoned");
        return -1;
    }
    unpack->has_run_out = unpack->length == 0;
    *bytes = unpack->bytes;
    return (la_ssize_t)unpack->length;
}

static int read_archive(sb_unpack *unpack, sb_error *err) {
    if (archive_read_open(unpack->archive, unpack, NULL, on_read, NULL) != ARCHIVE_OK) {
        return unpack->has_run_out ? archive_fail(err, SB_PROTOCOL, "the archive is empty")
                                   : archive_fail_format(err, unpack->archive);
    }
    struct archive_entry *entry;
    for (;;) {
        int result = archive_read_next_header(unpack->archive, &entry);
        if (result == ARCHIVE_EOF) {
            break;
        }
        if (result < ARCHIVE_WARN) {
            return archive_fail_format(err, unpack->archive);
        }
        if (member_make(unpack->root, &unpack->open, unpack->archive, entry, err) != 0) {
            return -1;
        }
    }
    if (unpack->has_run_out) {
        return archive_fail(err, SB_PROTOCOL, "the archive is cut: it has no end");
    }
    return left_open_leave(&unpack->open, unpack->root, NULL, err);
}

static void *run(void *user) {
    sb_unpack *unpack = user;
    pthread_mutex_lock(&unpack->lock);
    while (unpack->turn != TURN_THREAD) {
        pthread_cond_wait(&unpack->turned, &unpack->lock);
    }
    pthread_mutex_unlock(&unpack->lock);
    sb_error failure = {0};
    if (!unpack->is_abandoned) {
        /* Names are bytes: in a locale with a character set libarchive would translate them. */
        uselocale(unpack->plain);
        read_archive(unpack, &failure);
        uselocale(LC_GLOBAL_LOCALE);
    }
    pthread_mutex_lock(&unpack->lock);
    unpack->failure = failure;
    unpack->has_ended = true;
    unpack->turn = TURN_CALLER;
    pthread_cond_broadcast(&unpack->turned);
    pthread_mutex_unlock(&unpack->lock);
    return NULL;
}

/* Hands the bytes over and waits until they are used. */
static void lend(sb_unpack *unpack, const char *bytes, size_t length) {
    unpack->bytes = bytes;
    unpack->length = length;
    unpack->is_fresh = true;
    pass_turn(unpack, TURN_THREAD);
}

/* The host's signals are no business of the thread. */
static int start_thread(sb_unpack *unpack) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int number = pthread_create(&unpack->thread, NULL, run, unpack);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return number;
}

static int open_directory(const char *directory, sb_error *err) {
    if (directory == NULL || directory[0] == '\0') {
        return archive_fail(err, SB_BAD_PATH, "directory: no path");
    }
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        return archive_fail_errno(err, errno, directory);
    }
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? fd : archive_fail_errno(err, errno, directory);
}

static void free_all(sb_unpack *unpack) {
    archive_read_free(unpack->archive);
    left_open_free(&unpack->open);
    if (unpack->plain != (locale_t)0) {
        freelocale(unpack->plain);
    }
    if (unpack->root >= 0) {
        close(unpack->root);
    }
    pthread_cond_destroy(&unpack->turned);
    pthread_mutex_destroy(&unpack->lock);
    free(unpack);
}

static int open_archive(sb_unpack *unpack, sb_error *err) {
    unpack->archive = archive_read_new();
    unpack->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (unpack->archive == NULL || unpack->plain == (locale_t)0) {
        return archive_fail(err, SB_SYSTEM, "out of memory");
    }
    if (archive_read_support_format_tar(unpack->archive) != ARCHIVE_OK) {
        return archive_fail_format(err, unpack->archive);
    }
    int number = start_thread(unpack);
    return number == 0 ? 0 : archive_fail_errno(err, number, "a thread");
}

sb_unpack *sb_unpack_new(const char *directory, sb_error *err) {
    int root = open_directory(directory, err);
    if (root < 0) {
        return NULL;
    }
    sb_unpack *unpack = calloc(1, sizeof *unpack);
    if (unpack == NULL) {
        close(root);
        archive_fail(err, SB_SYSTEM, "out of memory");
        return NULL;
    }
    unpack->pid = getpid();
    unpack->root = root;
    pthread_mutex_init(&unpack->lock, NULL);
    pthread_cond_init(&unpack->turned, NULL);
    if (open_archive(unpack, err) != 0) {
        free_all(unpack);
        return NULL;
    }
    return unpack;
}

static int check(const sb_unpack *unpack, sb_error *err) {
    if (unpack->pid != getpid()) {
        return archive_fail(err, SB_INVALID, "made in another process, before a fork");
    }
    if (unpack->has_been_ended) {
        return archive_fail(err, SB_INVALID, "the stream was ended already");
    }
    return 0;
}

static int report(const sb_unpack *unpack, sb_error *err) {
    if (unpack->failure.code == SB_OK) {
        return 0;
    }
    if (err != NULL) {
        *err = unpack->failure;
    }
    return -1;
}

int sb_unpack_write(sb_unpack *unpack, const char *bytes, size_t length, sb_error *err) {
    if (check(unpack, err) != 0) {
        return -1;
    }
    /* Behind the archive's end there is padding. */
    if (length > 0 && !unpack->has_ended) {
        lend(unpack, bytes, length);
    }
    return report(unpack, err);
}

int sb_unpack_end(sb_unpack *unpack, sb_error *err) {
    if (check(unpack, err) != 0) {
        return -1;
    }
    unpack->has_been_ended = true;
    while (!unpack->has_ended) {
        lend(unpack, NULL, 0);
    }
    return report(unpack, err);
}

/* A child has no thread, and memory that its parent's thread was in the middle of using. It stays
 * where leak checkers see it. */
static _Atomic(sb_unpack *) inherited;

void sb_unpack_free(sb_unpack *unpack) {
    if (unpack == NULL) {
        return;
    }
    if (unpack->pid != getpid()) {
        close(unpack->root);
        unpack->next_inherited = atomic_exchange(&inherited, unpack);
        return;
    }
    while (!unpack->has_ended) {
        unpack->is_abandoned = true;
        lend(unpack, NULL, 0);
    }
    pthread_join(unpack->thread, NULL);
    free_all(unpack);
}
