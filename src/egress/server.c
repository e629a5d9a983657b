#include "server.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confinement.h"
#include "link.h"
#include "name_service.h"
#include "policy.h"
#include "tunnel.h"

/* For an answer of the server, which does nothing that takes long. */
#define ANSWER_MS 5000

/* The descriptors of the server, besides 0 to 2. */
enum { CHANNEL = 3, DNS_UDP, DNS_TCP, TUNNEL_4, TUNNEL_6, DESCRIPTORS_END };

/* Of the parent nothing else stays open. */
static int keep_descriptors(int channel, const struct inside_sockets *sockets) {
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int wanted[DESCRIPTORS_END] = {null_fd,
                                   null_fd,
                                   null_fd,
                                   channel,
                                   sockets->dns_udp,
                                   sockets->dns_tcp,
                                   sockets->tunnels[0],
                                   sockets->tunnels[1]};
    /* First out of the way of the numbers that they shall have. */
    for (int i = 0; i < DESCRIPTORS_END; i++)
        if ((wanted[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC, DESCRIPTORS_END)) < 0)
            return -1;
    for (int i = 0; i < DESCRIPTORS_END; i++)
        if (dup3(wanted[i], i, i < CHANNEL ? 0 : O_CLOEXEC) < 0)
            return -1;
    return (int)syscall(SYS_close_range, DESCRIPTORS_END, ~0u, 0);
}

static void on_tunnel(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)events;
    int fd;
    while ((fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        tunnel_start(fd, tunnel_redirected);
}

static void on_channel(struct ev_loop *loop, ev_io *io, int events) {
    (void)loop, (void)io, (void)events;
    static char bytes[EGRESS_MESSAGE_MAX];
    ssize_t got = recv(CHANNEL, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    json_t *source = got > 0 ? json_loadb(bytes, (size_t)got, 0, NULL) : NULL;
    struct policy *policy = source ? policy_read(source) : NULL;
    json_decref(source);
    if (!policy)
        _exit(0); /* the parent has gone, or the memory */
    policy_set(policy);
    tunnel_cut_all();
    if (send(CHANNEL, "", 1, MSG_NOSIGNAL) != 1)
        _exit(0);
}

static void serve(struct ev_loop *loop) {
    static ev_io tunnels[2], channel;
    name_service_start(loop, DNS_UDP, DNS_TCP);
    for (int i = 0; i < 2; i++) {
        ev_io_init(&tunnels[i], on_tunnel, TUNNEL_4 + i, EV_READ);
        ev_io_start(loop, &tunnels[i]);
    }
    ev_io_init(&channel, on_channel, CHANNEL, EV_READ);
    ev_io_start(loop, &channel);
    ev_run(loop, 0);
}

static void run(pid_t parent, int channel, const struct inside_sockets *sockets)
    __attribute__((noreturn));
static void run(pid_t parent, int channel, const struct inside_sockets *sockets) {
    char message[256] = "";
    sigset_t none;
    sigemptyset(&none);
    signal(SIGCHLD, SIG_DFL); /* the loop of the parent's */
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_NAME, "stepbox-serve");
    struct ev_loop *loop = NULL;
    if (keep_descriptors(channel, sockets) < 0)
        _exit(1);
    if (confine(parent, message, sizeof message) == 0 &&
        !(loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV)))
        snprintf(message, sizeof message, "stepbox-egress cannot make a loop of events");
    /* As long as nothing was read from the sandbox, what we say can be trusted. */
    size_t length = loop ? 1 : strlen(message);
    if (send(CHANNEL, message, length, MSG_NOSIGNAL) != (ssize_t)length || !loop)
        _exit(1);
    serve(loop);
    _exit(0);
}

int server_start(struct server *server, const struct inside_sockets *sockets, json_t *policy,
                 char *message, size_t room) {
    int ends[2];
    pid_t parent = getpid();
    struct policy *first = policy_read(policy);
    if (first)
        policy_set(first);
    bool made = first && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
    server->pid = made ? fork() : -1;
    if (server->pid == 0)
        run(parent, ends[1], sockets);
    snprintf(message, room, "stepbox-egress cannot start a process: %s", strerror(errno));
    if (made) {
        server->channel = ends[0];
        close(ends[1]);
    }
    close(sockets->dns_udp);
    close(sockets->dns_tcp);
    close(sockets->tunnels[0]);
    close(sockets->tunnels[1]);
    return server->pid < 0 ? -1 : 0;
}

/* The length of what it says, or -1 with message. */
static ssize_t receive(const struct server *server, char *bytes, size_t size, char *message,
                       size_t room) {
    struct pollfd readable = {.fd = server->channel, .events = POLLIN};
    int ready;
    while ((ready = poll(&readable, 1, ANSWER_MS)) < 0 && errno == EINTR)
        continue;
    ssize_t got = ready > 0 ? recv(server->channel, bytes, size, MSG_DONTWAIT) : -1;
    if (got > 0)
        return got;
    snprintf(message, room, "the part of stepbox-egress that serves the sandbox %s",
             ready == 0 ? "does not answer" : "has ended");
    return -1;
}

int server_await(const struct server *server, char *message, size_t room) {
    char text[256];
    ssize_t got = receive(server, text, sizeof text - 1, message, room);
    if (got <= 0 || text[0] == '\0')
        return got <= 0 ? -1 : 0;
    text[got] = '\0';
    snprintf(message, room, "%s", text);
    return -1;
}

int server_set_policy(const struct server *server, json_t *policy, char *message, size_t room) {
    char byte, *text = json_dumps(policy, JSON_COMPACT);
    bool sent = text && send(server->channel, text, strlen(text), MSG_NOSIGNAL) >= 0;
    free(text);
    if (!sent) {
        snprintf(message, room, "the policy cannot be handed over: %s", strerror(errno));
        return -1;
    }
    return receive(server, &byte, 1, message, room) == 1 ? 0 : -1;
}
