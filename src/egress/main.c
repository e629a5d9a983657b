/*
 * main.c - stepbox-egress: the network of one sandbox, from outside. The engine starts it, as the
 * host user that the sandbox's namespaces belong to, when a sandbox may reach something; it dies
 * with the engine and with the sandbox.
 *
 *   stepbox-egress PID       PID 1 of the sandbox, as the host sees it
 *
 * Descriptor EGRESS_CONTROL_FD is a socket of datagrams to the engine. It sends {"rules": text for
 * nft, "policy": see policy.h}, any time, and each is answered in order with {} when it is in
 * force, or {"error": text}. The first one also brings the link up; {"ended": text} comes when it
 * has gone down by itself, and {"host": "changed"} when the host has other addresses, so that the
 * engine sends its message anew. EGRESS_PIDFD is a pidfd of PID 1.
 *
 * The firewall is loaded before there is a link, and again, whole, with each change: there is no
 * moment in which the sandbox is connected and the rules are not there. They live in the sandbox's
 * own network, whose code has no right to change them.
 *
 * This process has every right over the sandbox's namespaces, and so reads nothing that comes from
 * there: that does a child (server.h), which has none.
 */
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper.h"
#include "host_addresses.h"
#include "inside.h"
#include "link.h"
#include "log.h"
#include "policy.h"
#include "server.h"

#define LINK_DEADLINE_MS 10000

static struct namespaces sandbox;
static struct helper helper;
static struct server server;
static bool linked;

static int load_rules(json_t *wanted, char *message, size_t room) {
    const char *rules = json_string_value(json_object_get(wanted, "rules"));
    struct policy *policy = policy_read(json_object_get(wanted, "policy"));
    if (policy)
        policy_release(policy);
    if (!rules || !policy) {
        snprintf(message, room, "the engine's message is not understood");
        return -1;
    }
    return inside_load_rules(&sandbox, rules, message, room);
}

static void tell(const char *key, const char *text) {
    json_t *object = key ? json_pack("{s:s}", key, text) : json_object();
    char *message = object ? json_dumps(object, JSON_COMPACT) : NULL;
    if (message)
        send(EGRESS_CONTROL_FD, message, strlen(message), MSG_NOSIGNAL);
    free(message);
    json_decref(object);
}

/* There is nothing left for us to do. */
static void on_server_end(struct ev_loop *loop, ev_child *child, int events) {
    (void)loop, (void)events;
    char message[128];
    int status = child->rstatus;
    snprintf(message, sizeof message,
             "the part of stepbox-egress that serves the sandbox ended with %s %d",
             WIFSIGNALED(status) ? "signal" : "status",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    tell("ended", message);
    exit(1);
}

static void on_helper_end(struct ev_loop *loop, ev_child *child, int events) {
    (void)loop, (void)child, (void)events;
    char message[1200];
    helper_complaint(&helper, message, sizeof message);
    tell("ended", message);
    exit(1);
}

/* Lets the helper make the link. */
static int bring_up(char *message, size_t room) {
    pid_t anchor = inside_anchor(&sandbox);
    if (anchor < 0) {
        snprintf(message, room, "cannot start a process: %s", strerror(errno));
        return -1;
    }
    int result = helper_start(&helper, anchor, message, room);
    if (result == 0) {
        result = inside_await_link(&sandbox, helper.both, LINK_DEADLINE_MS, helper.errors_fd,
                                   message, room);
        /* It closes that when it ends, which is a moment before it can be waited for. */
        struct pollfd end = {.fd = helper.errors_fd};
        if (poll(&end, 1, 0) > 0) {
            helper_complaint(&helper, message, room);
            result = -1;
        }
    }
    kill(anchor, SIGKILL);
    waitpid(anchor, NULL, 0);
    return result;
}

static void on_host_changed(void) {
    tell("host", "changed");
}

static void watch_child(struct ev_loop *loop, ev_child *child, pid_t pid,
                        void (*ended)(struct ev_loop *, ev_child *, int)) {
    ev_child_init(child, ended, pid, 0);
    ev_child_start(loop, child);
}

static int start(struct ev_loop *loop, json_t *wanted, char *message, size_t room) {
    static ev_child helper_end, server_end;
    struct inside_sockets sockets;
    if (host_addresses_watch(loop, on_host_changed) < 0) {
        snprintf(message, room, "cannot watch the host's addresses: %s", strerror(errno));
        return -1;
    }
    json_t *policy = json_object_get(wanted, "policy");
    if (load_rules(wanted, message, room) < 0 ||
        inside_open_sockets(&sandbox, &sockets, message, room) < 0 ||
        server_start(&server, &sockets, policy, message, room) < 0 || bring_up(message, room) < 0 ||
        inside_name_resolver(&sandbox, message, room) < 0 ||
        server_await(&server, message, room) < 0)
        return -1;
    watch_child(loop, &server_end, server.pid, on_server_end);
    watch_child(loop, &helper_end, helper.pid, on_helper_end);
    linked = true;
    return 0;
}

/* One that is not known to be in force wholly must not stand. */
static int change(json_t *wanted, char *message, size_t room) {
    if (load_rules(wanted, message, room) < 0)
        return -1;
    if (server_set_policy(&server, json_object_get(wanted, "policy"), message, room) == 0)
        return 0;
    linked = false;
    return -1;
}

static void on_control(struct ev_loop *loop, ev_io *io, int events) {
    (void)io, (void)events;
    static char bytes[EGRESS_MESSAGE_MAX];
    ssize_t got = recv(EGRESS_CONTROL_FD, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        exit(0); /* the engine has gone */
    char message[1200] = "";
    json_t *wanted = json_loadb(bytes, (size_t)got, 0, NULL);
    int result = linked ? change(wanted, message, sizeof message)
                        : start(loop, wanted, message, sizeof message);
    json_decref(wanted);
    tell(result < 0 ? "error" : NULL, message);
    if (!linked)
        exit(1);
}

int main(int argc, char **argv) {
    log_open("stepbox-egress", LOG_LEVEL_WARN);
    prctl(PR_SET_NAME, "stepbox-egress");
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the kernel forgets it when a program is executed as
                                         another user */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    /* Others of this user must not get at what we hold, nor our programs at more than that. */
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    signal(SIGPIPE, SIG_IGN);
    char *end;
    long pid = argc == 2 ? strtol(argv[1], &end, 10) : 0;
    if (pid <= 0 || *end || fcntl(EGRESS_CONTROL_FD, F_SETFD, FD_CLOEXEC) < 0 ||
        fcntl(EGRESS_PIDFD, F_SETFD, FD_CLOEXEC) < 0) {
        fprintf(stderr, "stepbox-egress is started by stepboxd\n");
        return 2;
    }
    if (namespaces_open(&sandbox, (pid_t)pid, EGRESS_PIDFD) < 0) {
        char message[128];
        snprintf(message, sizeof message, "cannot open the sandbox's namespaces: %s",
                 strerror(errno));
        tell("error", message);
        return 1;
    }
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    static ev_io control;
    ev_io_init(&control, on_control, EGRESS_CONTROL_FD, EV_READ);
    ev_io_start(loop, &control);
    ev_run(loop, 0);
    return 0;
}
