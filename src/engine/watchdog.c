#include "watchdog.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroups.h"
#include "log.h"
#include "orphans.h"

#define REAP_TRIES 500 /* each 10 ms */
#define SWEEP_TRIES 100

/* Kills and reaps every child until there is none. */
static void kill_children(void) {
    for (int i = 0; i < REAP_TRIES; i++) {
        orphans_kill(NULL, NULL);
        pid_t reaped;
        while ((reaped = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
        if (reaped < 0 && errno == ECHILD)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    }
    log_error("processes of sandboxes could not be killed");
}

/* Removes the control groups of the sandboxes: the kernel empties them soon after their processes
 * have died. */
static void sweep_groups(void) {
    for (int i = 0; i < SWEEP_TRIES && cgroups_sweep() > 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

/* Waits for the engine's end; returns its wait status. */
static int watch(pid_t engine, const sigset_t *signals) {
    for (;;) {
        int status;
        pid_t reaped;
        while ((reaped = waitpid(-1, &status, WNOHANG)) > 0)
            if (reaped == engine)
                return status;
        int number = sigwaitinfo(signals, NULL);
        if (number > 0 && number != SIGCHLD)
            kill(engine, SIGTERM);
    }
}

int watchdog_start(const socket_claim *claim, int tcp_fd, int report_fd) {
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    /* An inherited "ignore" would reap our children without telling us. */
    signal(SIGCHLD, SIG_DFL);
    /* What outlives the engine becomes ours instead of init's. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);

    pid_t watchdog = getpid();
    pid_t engine = fork();
    if (engine < 0)
        return -1;
    if (engine == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (getppid() != watchdog)
            _exit(1);
        return 0;
    }

    prctl(PR_SET_NAME, "stepboxd-watch");
    /* While a copy of a listening socket is open, clients would wait on a dead engine. */
    if (claim)
        close(claim->listen_fd);
    if (tcp_fd >= 0)
        close(tcp_fd);
    if (report_fd >= 0)
        close(report_fd);
    int status = watch(engine, &signals);
    cgroups_sweep(); /* lets frozen processes go on, and so die */
    kill_children();
    sweep_groups();
    if (claim)
        socket_claim_withdraw(claim);
    if (WIFSIGNALED(status)) {
        log_error("the engine was ended by signal %d; its sandboxes are gone", WTERMSIG(status));
        exit(128 + WTERMSIG(status));
    }
    exit(WEXITSTATUS(status));
}
