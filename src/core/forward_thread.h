/*
 * forward_thread.h - accepts the connections of a forward and serves them until it is told to end.
 */
#ifndef STEPBOX_CORE_FORWARD_THREAD_H
#define STEPBOX_CORE_FORWARD_THREAD_H

#include "forward_target.h"

/* Connections at the same time; others wait to be accepted. */
#define SBI_FORWARD_CONNECTIONS 256

struct sbi_forward_service {
    struct sbi_forward_target target;
    int listen_fd; /* non-blocking */
    int wake_fd;   /* an eventfd: readable when the thread is to end */
};

/* The thread's main function; user is the service, which must live as long. */
void *sbi_forward_serve(void *user);

#endif
