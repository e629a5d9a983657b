/* redirected.c - what a redirected connection is for, and whether it may be. */
#include "tunnel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6/ip6_tables.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "hello.h"
#include "name_pool.h"
#include "outside.h"
#include "policy.h"

/* Seconds in which a client has to say which name it means. */
#define HELLO_SECONDS 10

union destination {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Where the client wanted to go before it was redirected. Whoever connects to us directly wanted
 * nothing. */
static bool original(int fd, union destination *to, uint16_t *port) {
    union destination here;
    socklen_t length = sizeof *to, here_length = sizeof here;
    if (getsockname(fd, &here.any, &here_length) < 0)
        return false;
    if (here.any.sa_family == AF_INET) {
        if (getsockopt(fd, SOL_IP, SO_ORIGINAL_DST, to, &length) < 0)
            return false;
        *port = ntohs(to->v4.sin_port);
    } else {
        if (getsockopt(fd, SOL_IPV6, IP6T_SO_ORIGINAL_DST, to, &length) < 0)
            return false;
        *port = ntohs(to->v6.sin6_port);
    }
    return memcmp(to, &here, here_length) != 0;
}

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Looks at what the client says first, without taking it from the socket. */
static bool read_name(int fd, uint16_t port, char name[HELLO_NAME_MAX]) {
    uint8_t bytes[HELLO_MAX];
    long long deadline = now_ms() + HELLO_SECONDS * 1000LL;
    size_t seen = 0;
    for (;;) {
        long long left = deadline - now_ms();
        struct pollfd readable = {.fd = fd, .events = POLLIN};
        if (left <= 0 || poll(&readable, 1, (int)left) <= 0)
            return false;
        ssize_t got = recv(fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
        if (got <= 0)
            return false;
        hello_result result = port == 443 ? hello_tls(bytes, (size_t)got, name)
                                          : hello_http(bytes, (size_t)got, name);
        if (result != HELLO_MORE)
            return result == HELLO_DONE;
        /* What was looked at stays readable: wait for more by the clock. */
        if ((size_t)got == seen)
            nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
        seen = (size_t)got;
    }
}

static int connect_for(const struct policy *policy, int client_fd) {
    union destination to;
    uint16_t port;
    char name[HELLO_NAME_MAX];
    if (!original(client_fd, &to, &port))
        return -1;
    if (policy->proxy_host && policy_allows(policy, &to.any))
        return outside_proxy_address(policy, &to.any);
    if (policy->names == NAMES_LISTED) {
        if ((port != 80 && port != 443) || !read_name(client_fd, port, name) ||
            !policy_lists(policy, name))
            return -1;
        return policy->proxy_host ? outside_proxy_name(policy, name, port)
                                  : outside_connect(policy, name, port);
    }
    if (!policy->proxy_host)
        return -1;
    if (to.any.sa_family == AF_INET &&
        name_pool_find((const uint8_t *)&to.v4.sin_addr, name, sizeof name))
        return outside_proxy_name(policy, name, port);
    return policy_opens(policy, &to.any) ? outside_proxy_address(policy, &to.any) : -1;
}

void tunnel_redirected(int client_fd) {
    struct policy *policy = policy_get();
    int fd = connect_for(policy, client_fd);
    policy_release(policy);
    if (fd < 0) {
        /* A reset, so that it does not look like an answer that is empty. */
        struct linger abort = {.l_onoff = 1};
        setsockopt(client_fd, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
        return;
    }
    tunnel_relay(client_fd, fd);
    close(fd);
}
