#include "host_addresses.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

/* Seconds. */
#define TOGETHER 0.1

static ev_io readable;
static ev_timer settled;
static void (*tell)(void);

static void on_settled(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)timer, (void)events;
    tell();
}

/* What has changed does not matter: whoever is told looks for itself. When more came than the
 * socket holds, recv() fails once, which counts as news too. */
static void on_news(struct ev_loop *loop, ev_io *io, int events) {
    (void)events;
    char bytes[8192];
    while (recv(io->fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
    if (!ev_is_active(&settled)) {
        ev_timer_set(&settled, TOGETHER, 0.0);
        ev_timer_start(loop, &settled);
    }
}

int host_addresses_watch(struct ev_loop *loop, void (*changed)(void)) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK,
                                  .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    tell = changed;
    ev_timer_init(&settled, on_settled, TOGETHER, 0.0);
    ev_io_init(&readable, on_news, fd, EV_READ);
    ev_io_start(loop, &readable);
    return 0;
}
