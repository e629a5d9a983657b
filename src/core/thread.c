#include "thread.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>

static void pin_library(void) {
    Dl_info info;
    if (dladdr((void *)&sbi_thread_start, &info) != 0 && info.dli_fname != NULL) {
        /* Never closed, which is the point. Fails for code within the program itself, which stays.
         */
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

int sbi_thread_start(pthread_t *thread, void *(*run)(void *user), void *user) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(thread, NULL, run, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure == 0) {
        pin_library();
    }
    return failure;
}
