#include "sigpipe.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static sigset_t only_sigpipe(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

static bool is_pending(void) {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
}

void sbi_sigpipe_hold(struct sbi_sigpipe *held, bool is_wanted) {
    held->is_held = is_wanted;
    if (!is_wanted) {
        return;
    }
    sigset_t set = only_sigpipe();
    held->was_pending = is_pending();
    pthread_sigmask(SIG_BLOCK, &set, &held->mask);
}

void sbi_sigpipe_release(const struct sbi_sigpipe *held) {
    if (!held->is_held) {
        return;
    }
    int saved = errno;
    if (!held->was_pending && is_pending()) {
        sigset_t set = only_sigpipe();
        struct timespec none = {0, 0};
        while (sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &held->mask, NULL);
    errno = saved;
}
