#include "outside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DEADLINE_SECONDS 10
#define MAX_ADDRESSES 8 /* of one name that are tried */
/* A target of SOCKS that is an address: its type, itself, the port. */
#define TARGET_ADDRESS_MAX (1 + 16 + 2)

static void set_deadline(int fd, int seconds) {
    struct timeval deadline = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
}

int outside_connect_address(const struct sockaddr *address, socklen_t length) {
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return -1;
    set_deadline(fd, DEADLINE_SECONDS); /* connect() keeps to the one for sending */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    if (connect(fd, address, length) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Whether the host has the address now: what listens on it is the host's own. */
static bool is_own(const struct sockaddr *address) {
    struct ifaddrs *all, *one;
    net_range wanted, own;
    bool found = false;
    if (!net_range_of(address, &wanted) || getifaddrs(&all) < 0)
        return true;
    for (one = all; one && !found; one = one->ifa_next)
        found =
            one->ifa_addr && net_range_of(one->ifa_addr, &own) && net_range_covers(&own, &wanted);
    freeifaddrs(all);
    return found;
}

/* policy NULL: any address will do. */
static int connect_name(const struct policy *policy, const char *name, const char *port) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list;
    if (getaddrinfo(name, port, &hints, &list) != 0)
        return -1;
    int fd = -1, tried = 0;
    for (struct addrinfo *one = list; one && fd < 0 && tried < MAX_ADDRESSES; one = one->ai_next) {
        if (policy && (!policy_opens(policy, one->ai_addr) || is_own(one->ai_addr)))
            continue;
        tried++;
        fd = outside_connect_address(one->ai_addr, one->ai_addrlen);
    }
    freeaddrinfo(list);
    return fd;
}

int outside_connect(const struct policy *policy, const char *name, uint16_t port) {
    char text[8];
    snprintf(text, sizeof text, "%u", port);
    return connect_name(policy, name, text);
}

static bool send_all(int fd, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int fd, uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t got = recv(fd, bytes, length, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes += got;
        length -= (size_t)got;
    }
    return true;
}

/* RFC 1928's choice of a method, and RFC 1929's user and password. */
static bool greet(int fd, const struct policy *policy) {
    const char *user = policy->proxy_user, *password = policy->proxy_password;
    const uint8_t hello[] = {5, 1, user ? 2 : 0};
    uint8_t answer[2];
    if (!send_all(fd, hello, sizeof hello) || !receive_all(fd, answer, 2) || answer[0] != 5 ||
        answer[1] != hello[2])
        return false;
    if (!user)
        return true;
    uint8_t request[3 + 255 + 255];
    size_t user_length = strlen(user), password_length = password ? strlen(password) : 0, used = 0;
    if (user_length > 255 || password_length > 255)
        return false;
    request[used++] = 1;
    request[used++] = (uint8_t)user_length;
    memcpy(request + used, user, user_length);
    used += user_length;
    request[used++] = (uint8_t)password_length;
    if (password_length > 0)
        memcpy(request + used, password, password_length);
    used += password_length;
    return send_all(fd, request, used) && receive_all(fd, answer, 2) && answer[1] == 0;
}

/* CONNECT; target is the type of the address, itself, and the port. */
static bool ask(int fd, const uint8_t *target, size_t length) {
    uint8_t request[3 + 1 + 256 + 2] = {5, 1, 0};
    memcpy(request + 3, target, length);
    uint8_t head[4], rest[256 + 2], name_length = 0;
    if (!send_all(fd, request, 3 + length) || !receive_all(fd, head, sizeof head) || head[0] != 5 ||
        head[1] != 0)
        return false;
    size_t bound = head[3] == 1 ? 4 : 16;
    if (head[3] == 3) {
        if (!receive_all(fd, &name_length, 1))
            return false;
        bound = name_length;
    }
    return receive_all(fd, rest, bound + 2);
}

/* The address and port as SOCKS has them; returns the length. */
static size_t put_address(uint8_t target[TARGET_ADDRESS_MAX], const struct sockaddr *address) {
    bool v4 = address->sa_family == AF_INET;
    const struct sockaddr_in *in = (const void *)address;
    const struct sockaddr_in6 *in6 = (const void *)address;
    size_t length = v4 ? 4 : 16;
    target[0] = v4 ? 1 : 4;
    memcpy(target + 1, v4 ? (const void *)&in->sin_addr : (const void *)&in6->sin6_addr, length);
    memcpy(target + 1 + length, v4 ? &in->sin_port : &in6->sin6_port, 2);
    return length + 3;
}

/* Whether the target is what the connection leads to: the proxy, which would serve the sandbox as
 * a client of its own, with no rules. */
static bool is_peer(int fd, const uint8_t *target, size_t length) {
    union {
        struct sockaddr any;
        struct sockaddr_in6 room;
    } peer;
    socklen_t peer_length = sizeof peer;
    uint8_t own[TARGET_ADDRESS_MAX];
    if (getpeername(fd, &peer.any, &peer_length) < 0)
        return true;
    return put_address(own, &peer.any) == length && memcmp(own, target, length) == 0;
}

static int through_proxy(const struct policy *policy, const uint8_t *target, size_t length) {
    int fd = connect_name(NULL, policy->proxy_host, policy->proxy_port);
    if (fd < 0)
        return -1;
    if (!is_peer(fd, target, length) && greet(fd, policy) && ask(fd, target, length))
        return fd;
    close(fd);
    return -1;
}

/* What the proxy's resolver would take for an address, in any of its spellings, or for the proxy's
 * own machine: the rules are for addresses, and have not seen this one. */
static bool is_address(const char *name) {
    static const char *const own[] = {"localhost", "localhost.localdomain", "localhost6",
                                      "ip6-localhost", "ip6-loopback"};
    static const char below[] = ".localhost";
    struct in_addr address;
    size_t length = strlen(name), tail = sizeof below - 1;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return inet_aton(name, &address) != 0 ||
           (length > tail && strcmp(name + length - tail, below) == 0);
}

int outside_proxy_name(const struct policy *policy, const char *name, uint16_t port) {
    uint8_t target[2 + 255 + 2];
    size_t length = strlen(name);
    if (length > 255 || is_address(name) ||
        (strcasecmp(name, policy->proxy_host) == 0 && port == atoi(policy->proxy_port)))
        return -1;
    target[0] = 3;
    target[1] = (uint8_t)length;
    memcpy(target + 2, name, length);
    target[2 + length] = (uint8_t)(port >> 8);
    target[3 + length] = (uint8_t)port;
    return through_proxy(policy, target, length + 4);
}

int outside_proxy_address(const struct policy *policy, const struct sockaddr *address) {
    uint8_t target[TARGET_ADDRESS_MAX];
    return through_proxy(policy, target, put_address(target, address));
}
