#include "inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors.h"
#include "link.h"
#include "program_path.h"
#include "program_run.h"
#include "routes.h"

static int failed(const char *what, char *message, size_t room) {
    snprintf(message, room, "%s: %s", what, strerror(errno));
    return -1;
}

static int open_socket(int type, const char *address, uint16_t port) {
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
    bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
    int fd = socket(is_v4 ? AF_INET : AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd < 0)
        return -1;
    if (type == SOCK_STREAM)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!is_v4)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    const struct sockaddr *to = is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    if (bind(fd, to, is_v4 ? sizeof v4 : sizeof v6) == 0 &&
        (type != SOCK_STREAM || listen(fd, 128) == 0))
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

#define SOCKET_COUNT 4

static int send_sockets(void *user, char *message, size_t room) {
    int to = *(int *)user;
    int fds[SOCKET_COUNT] = {open_socket(SOCK_DGRAM, LINK_RESOLVER, LINK_RESOLVER_PORT),
                             open_socket(SOCK_STREAM, LINK_RESOLVER, LINK_RESOLVER_PORT),
                             open_socket(SOCK_STREAM, "127.0.0.1", LINK_TUNNEL_PORT),
                             open_socket(SOCK_STREAM, "::1", LINK_TUNNEL_PORT)};
    /* A network without IPv6: one that nobody connects to stands in for it. */
    if (fds[3] < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
        fds[3] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (size_t i = 0; i < SOCKET_COUNT; i++)
        if (fds[i] < 0)
            return failed("cannot listen in the sandbox's network", message, room);
    return descriptors_send(to, "", 1, fds, SOCKET_COUNT, 0) == 1
               ? 0
               : failed("sendmsg", message, room);
}

static int receive_sockets(int from, struct inside_sockets *sockets) {
    int fds[SOCKET_COUNT];
    size_t count;
    char byte;
    if (descriptors_receive(from, &byte, 1, fds, SOCKET_COUNT, &count, MSG_DONTWAIT) != 1)
        return -1;
    if (count != SOCKET_COUNT) {
        errno = EPROTO;
        return -1;
    }
    *sockets = (struct inside_sockets){fds[0], fds[1], {fds[2], fds[3]}};
    return 0;
}

int inside_open_sockets(const struct namespaces *ns, struct inside_sockets *sockets, char *message,
                        size_t room) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return failed("socketpair", message, room);
    int result = inside_run(ns, INSIDE_NETWORK, send_sockets, &pair[1], message, room);
    if (result == 0 && receive_sockets(pair[0], sockets) < 0)
        result = failed("the sockets of the sandbox's network did not come", message, room);
    close(pair[0]);
    close(pair[1]);
    return result;
}

static int run_nft(void *user, char *message, size_t room) {
    const char *rules = user;
    char program[PATH_MAX];
    if (!program_path_find("nft", program)) {
        snprintf(message, room,
                 "nftables is not installed: install the package \"nftables\" for sandboxes with "
                 "internet access");
        return -1;
    }
    int fd = memfd_create("stepbox-rules", MFD_CLOEXEC);
    size_t length = strlen(rules);
    if (fd < 0 || write(fd, rules, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) != 0)
        return failed("cannot hand the firewall's rules over", message, room);
    if (inside_keep_capability(CAP_NET_ADMIN) < 0)
        return failed("cannot keep the right to set the firewall's rules", message, room);
    char *const argv[] = {"nft", "-f", "-", NULL};
    return program_run(program, argv, fd, message, room);
}

int inside_load_rules(const struct namespaces *ns, const char *rules, char *message, size_t room) {
    return inside_run(ns, INSIDE_NETWORK, run_nft, (void *)(uintptr_t)rules, message, room);
}

/* Milliseconds for the second family of addresses once the first is there. */
#define SECOND_FAMILY_MS 1000

struct waiting {
    int milliseconds, stop_fd;
    bool both;
};

static int await_link(void *user, char *message, size_t room) {
    const struct waiting *waiting = user;
    struct pollfd stop = {.fd = waiting->stop_fd}; /* its end alone: helpers also print warnings */
    int until = waiting->milliseconds;
    bool is_there = false;
    for (int waited = 0; waited < until; waited += 2) {
        bool v4 = routes_have_default(false, LINK_NAME);
        bool v6 = routes_have_default(true, LINK_NAME);
        if ((v4 && v6) || ((v4 || v6) && !waiting->both) || poll(&stop, 1, 2) > 0)
            return 0;
        if ((v4 || v6) && !is_there) {
            is_there = true;
            until = waited + SECOND_FAMILY_MS;
        }
    }
    if (is_there)
        return 0;
    snprintf(message, room, "the sandbox's network was not ready within %d seconds",
             waiting->milliseconds / 1000);
    return -1;
}

int inside_await_link(const struct namespaces *ns, bool both, int milliseconds, int stop_fd,
                      char *message, size_t room) {
    struct waiting waiting = {milliseconds, stop_fd, both};
    return inside_run(ns, INSIDE_NETWORK, await_link, &waiting, message, room);
}

/* A file in a file system of its own, which is mounted nowhere. Its descriptor, or -1. */
static int detached_file(const char *name, const char *text) {
    int context = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
    if (context < 0 || syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "size", "64k", 0) < 0 ||
        syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return -1;
    int mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
                             MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    int fd = mount < 0 ? -1 : openat(mount, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    size_t length = strlen(text);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length || fchmod(fd, 0444) < 0)
        return -1;
    close(fd);
    return (int)syscall(SYS_open_tree, mount, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

static const char resolver_text[] = "nameserver " LINK_RESOLVER "\noptions edns0\n";

/* Whether the file is there from an earlier start. */
static bool names_resolver(void) {
    char text[sizeof resolver_text + 1];
    int fd = open("/etc/resolv.conf", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    return got == sizeof resolver_text - 1 && memcmp(text, resolver_text, (size_t)got) == 0;
}

static int mount_resolver(void *user, char *message, size_t room) {
    (void)user;
    if (names_resolver())
        return 0;
    /* Files belong to somebody whom the sandbox knows: its root, or else we are its user. */
    if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
        errno = 0;
    /* Not through a link that the sandbox's root may have made of it. */
    int over = open("/etc/resolv.conf", O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int file = detached_file("resolv.conf", resolver_text);
    if (over < 0 || file < 0 ||
        syscall(SYS_move_mount, file, "", over, "",
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return failed("cannot name a resolver in the sandbox's /etc/resolv.conf", message, room);
    return 0;
}

int inside_name_resolver(const struct namespaces *ns, char *message, size_t room) {
    return inside_run(ns, INSIDE_MOUNTS, mount_resolver, NULL, message, room);
}
