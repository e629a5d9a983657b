/*
 * sigpipe.h - keeps SIGPIPE from the host while libcurl writes.
 *
 * CURLOPT_NOSIGNAL leaves SIGPIPE to the program, and some TLS libraries write without
 * MSG_NOSIGNAL. The signal's disposition belongs to the host, so the calling thread blocks the
 * signal and takes what came.
 */
#ifndef STEPBOX_CORE_SIGPIPE_H
#define STEPBOX_CORE_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

struct sbi_sigpipe {
    sigset_t mask;    /* the thread's mask before */
    bool was_pending; /* somebody else's: left alone */
    bool is_held;
};

/* is_wanted false: nothing happens, as for plain sockets, on which libcurl asks for no signal. */
void sbi_sigpipe_hold(struct sbi_sigpipe *held, bool is_wanted);
void sbi_sigpipe_release(const struct sbi_sigpipe *held);

#endif
