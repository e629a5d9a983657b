/*
 * thread.h - threads of the library: all signals are blocked in them, so that the host's handlers
 * never run there.
 */
#ifndef STEPBOX_CORE_THREAD_H
#define STEPBOX_CORE_THREAD_H

#include <pthread.h>

/* Starts a thread, and keeps the library loaded from now on: a host may unload it while the thread
 * still runs in it. 0, or what pthread_create() says. */
int sbi_thread_start(pthread_t *thread, void *(*run)(void *user), void *user);

#endif
