/* main.c - stepboxd: from the command line to a running engine. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "detach.h"
#include "engine.h"
#include "listener.h"
#include "own_scope.h"
#include "report.h"
#include "watchdog.h"

static int fail(int report_fd, const char *what) {
    char message[256];
    snprintf(message, sizeof message, "%s: %s", what, strerror(errno));
    report_error(report_fd, message);
    return 1;
}

/* Signals as a program expects them, whatever the one that started us had blocked. */
static void reset_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
}

/* Says where TCP is served, with the port that port 0 became. */
static void announce_tcp(int fd, const struct options *options) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[128], port[16];
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0 ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    bool v6 = address.ss_family == AF_INET6;
    if (!options->daemon)
        printf("stepboxd: serving http://%s%s%s:%s\n", v6 ? "[" : "", host, v6 ? "]" : "", port);
    fflush(stdout);
    if (!options->listen_is_loopback)
        log_warn("serving on %s: other machines may reach it, and the traffic is not encrypted",
                 host);
}

/* Takes the sockets and becomes engine and watchdog. */
static int serve(const struct options *options, int report_fd) {
    struct socket_claim claim;
    char message[512];
    int tcp_fd = -1;
    if (options->serve_tcp) {
        tcp_fd = listener_open_tcp(&options->listen_address, options->listen_length);
        if (tcp_fd < 0)
            return fail(report_fd, "cannot listen on the TCP address");
        announce_tcp(tcp_fd, options);
    }
    if (options->serve_unix) {
        switch (socket_claim_take(&claim, options->socket_path, message, sizeof message)) {
        case CLAIM_FAILED:
            report_error(report_fd, message);
            return 1;
        case CLAIM_SERVED:
            if (tcp_fd >= 0) {
                snprintf(message, sizeof message, "another engine serves %s already", claim.path);
                report_error(report_fd, message);
                return 1;
            }
            log_info("another engine serves %s already", claim.path);
            report_ready(report_fd);
            return 0;
        case CLAIM_OURS:
            break;
        }
    }
    struct socket_claim *ours = options->serve_unix ? &claim : NULL;
    if (watchdog_start(ours, tcp_fd, report_fd) < 0) {
        int saved = errno;
        if (ours) {
            socket_claim_close(ours);
            socket_claim_withdraw(ours);
        }
        errno = saved;
        return fail(report_fd, "cannot start the engine's process");
    }
    return engine_run(options, ours, tcp_fd, report_fd);
}

int main(int argc, char **argv) {
    static struct options options; /* has the key: not on the stack of a process that forks */
    switch (options_parse(&options, argc, argv)) {
    case OPTIONS_SHOWN:
        return 0;
    case OPTIONS_WRONG:
        return 2;
    case OPTIONS_RUN:
        break;
    }
    log_open("stepboxd", options.level);
    reset_signals();
    /* One with a key in its arguments, which are wiped by now, is started by people, who can do so.
     */
    if (options.daemon && !options.serve_tcp)
        own_scope_enter(argv);
    detach_mark_inherited();
    int report_fd = options.ready_fd;
    if (options.daemon) {
        report_fd = detach(options.ready_fd);
        if (report_fd < 0)
            return fail(options.ready_fd, "cannot go to the background");
    }
    return serve(&options, report_fd);
}
