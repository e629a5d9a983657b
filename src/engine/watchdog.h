/*
 * watchdog.h - a small parent process that cleans up after the engine, however it ends.
 */
#ifndef STEPBOX_WATCHDOG_H
#define STEPBOX_WATCHDOG_H

#include "socket_claim.h"

/* Forks. Returns 0 in the new process, which is to be the engine: it gets SIGTERM when the watchdog
 * dies. The calling process becomes the watchdog ("stepboxd-watch"): it passes SIGTERM, SIGINT and
 * SIGHUP on as SIGTERM, and when the engine has ended it kills what is left of its sandboxes,
 * removes its socket, and exits with its status; it does not return. `claim` is NULL without a unix
 * socket. The watchdog closes its copies of the claim's listening socket and of the other
 * descriptors given (-1: none). Returns -1 with errno when it cannot fork. */
int watchdog_start(const socket_claim *claim, int tcp_fd, int report_fd);

#endif
