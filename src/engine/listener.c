#include "listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"

/* Connections taken in one turn of the loop, so that others get theirs. */
#define BATCH 32
#define PAUSE_SECONDS 0.1

/* True when the process at the other end may use the engine. */
static bool is_welcome(int fd, pid_t *pid) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    *pid = peer.pid;
    if (peer.uid == geteuid() || peer.uid == 0)
        return true;
    log_warn("refused a connection of user %lu", (unsigned long)peer.uid);
    return false;
}

static void set_up_tcp(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on); /* notices clients that vanished */
}

static void on_acceptable(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    struct listener *listener = io->data;
    for (int i = 0; i < BATCH; i++) {
        int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
                log_warn("cannot accept connections: %s", strerror(errno));
                ev_io_stop(loop, io);
                ev_timer_set(&listener->pause, PAUSE_SECONDS, 0.0);
                ev_timer_start(loop, &listener->pause);
            }
            return;
        }
        pid_t pid = 0;
        if (listener->transport == TRANSPORT_TCP)
            set_up_tcp(fd);
        if (listener->transport == TRANSPORT_UNIX && !is_welcome(fd, &pid))
            close(fd);
        else
            gateway_add(listener->gateway, fd, listener->transport, pid);
    }
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)events;
    struct listener *listener = timer->data;
    ev_io_start(loop, &listener->acceptable);
}

void listener_start(struct listener *listener, struct ev_loop *loop, int fd,
                    enum transport transport, struct gateway *gateway) {
    *listener = (struct listener){.loop = loop, .gateway = gateway, .transport = transport};
    ev_io_init(&listener->acceptable, on_acceptable, fd, EV_READ);
    ev_timer_init(&listener->pause, on_pause_over, PAUSE_SECONDS, 0.0);
    listener->acceptable.data = listener->pause.data = listener;
    ev_io_start(loop, &listener->acceptable);
}

void listener_stop(struct listener *listener) {
    ev_io_stop(listener->loop, &listener->acceptable);
    ev_timer_stop(listener->loop, &listener->pause);
}

int listener_open_tcp(const struct sockaddr_storage *address, socklen_t length) {
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, (const struct sockaddr *)address, length) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}
