/* port_relay_test.c - connections to servers of the sandbox: bytes, ends, and what nobody serves.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ev.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control_socket.h"
#include "port_relay.h"

static struct ev_loop *loop;
static port_relays *relays;

static int set_up(void **state) {
    (void)state;
    loop = ev_default_loop(0);
    relays = port_relays_new(loop);
    return relays ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    port_relays_free(relays);
    return 0;
}

/* A listening socket on the loopback interface. */
static int listen_on(int family, uint16_t *port) {
    struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
    socklen_t length = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    struct sockaddr_in *in = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;
    if (family == AF_INET)
        in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        in6->sin6_addr = in6addr_loopback;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) || listen(fd, 64) ||
        getsockname(fd, (struct sockaddr *)&address, &length)) {
        close(fd);
        return -1;
    }
    *port = ntohs(family == AF_INET ? in->sin_port : in6->sin6_port);
    return fd;
}

/* A port that nobody serves: bound, so that nobody else takes it, and not listening. */
static int unserved(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* The far end of a connection that is handed to the relays. */
static int relay_to(uint16_t port, bool announce) {
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    port_relays_add(relays, ends[1], port, announce);
    return ends[0];
}

/* Runs the loop until fd has something to read. */
static void wait_for(int fd) {
    struct pollfd state = {.fd = fd, .events = POLLIN};
    for (int i = 0; i < 2000; i++) {
        ev_run(loop, EVRUN_NOWAIT);
        if (poll(&state, 1, 1) == 1)
            return;
    }
    fail_msg("nothing came");
}

static int accept_from(int listener) {
    wait_for(listener);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_true(fd >= 0);
    return fd;
}

static void say(int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* The next bytes on fd are these; NULL: its end. */
static void assert_hears(int fd, const char *text) {
    char buffer[256];
    wait_for(fd);
    ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    assert_int_equal(got, text ? strlen(text) : 0);
    if (text)
        assert_memory_equal(buffer, text, strlen(text));
}

static void bytes_and_ends_go_both_ways(void **state) {
    (void)state;
    static const int families[] = {AF_INET, AF_INET6};
    for (size_t i = 0; i < 2; i++) {
        uint16_t port;
        int listener = listen_on(families[i], &port);
        if (listener < 0 && families[i] == AF_INET6)
            continue; /* no IPv6 on this host */
        int client = relay_to(port, false);
        say(client, "hello");
        int server = accept_from(listener);
        assert_hears(server, "hello");
        say(server, "welcome");
        assert_hears(client, "welcome");
        shutdown(client, SHUT_WR);
        assert_hears(server, NULL);
        say(server, "good bye");
        assert_hears(client, "good bye");
        assert_int_equal(port_relays_count(relays), 1);
        close(server);
        assert_hears(client, NULL);
        assert_int_equal(port_relays_count(relays), 0);
        close(client);
        close(listener);
    }
}

static void a_port_that_nobody_serves_closes_the_connection_without_a_byte(void **state) {
    (void)state;
    uint16_t port;
    int keeper = unserved(&port);
    for (int announce = 0; announce < 2; announce++) {
        int client = relay_to(port, announce);
        say(client, "anybody there?");
        wait_for(client);
        char byte;
        assert_true(recv(client, &byte, 1, 0) <= 0);
        assert_int_equal(port_relays_count(relays), 0);
        close(client);
    }
    close(keeper);
}

static void an_accepted_connection_is_announced_when_that_is_asked_for(void **state) {
    (void)state;
    static const char word[] = {CONTROL_ACCEPTED, '\0'};
    uint16_t port;
    int listener = listen_on(AF_INET, &port), client = relay_to(port, true);
    assert_hears(client, word);
    int server = accept_from(listener);
    say(server, "welcome");
    assert_hears(client, "welcome");
    close(client);
    close(server);
    close(listener);
}

static void a_server_that_breaks_off_closes_both_ways_at_once(void **state) {
    (void)state;
    uint16_t port;
    int listener = listen_on(AF_INET, &port), client = relay_to(port, false);
    int server = accept_from(listener);
    struct linger linger = {.l_onoff = 1};
    setsockopt(server, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(server);
    wait_for(client);
    struct pollfd state_of = {.fd = client};
    assert_int_equal(poll(&state_of, 1, 0), 1);
    assert_true(state_of.revents & POLLHUP);
    assert_int_equal(port_relays_count(relays), 0);
    close(client);
    close(listener);
}

static void many_at_once_all_end(void **state) {
    (void)state;
    enum { COUNT = 60 };

    uint16_t port;
    int listener = listen_on(AF_INET, &port), clients[COUNT];
    for (int i = 0; i < COUNT; i++)
        clients[i] = relay_to(port, false);
    assert_int_equal(port_relays_count(relays), COUNT);
    for (int i = 0; i < COUNT; i++) {
        int server = accept_from(listener);
        close(server);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_hears(clients[i], NULL);
        close(clients[i]);
    }
    for (int i = 0; i < 100 && port_relays_count(relays) > 0; i++)
        ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(port_relays_count(relays), 0);
    close(listener);
}

static void one_more_than_there_may_be_is_closed_at_once(void **state) {
    (void)state;
    struct rlimit limit;
    const rlim_t needed = 4 * PORT_RELAY_MAX;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < needed)
        skip();
    limit.rlim_cur = limit.rlim_cur < needed ? needed : limit.rlim_cur;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    static int clients[PORT_RELAY_MAX + 1];
    uint16_t port;
    int listener = listen_on(AF_INET, &port);
    char byte;
    for (int i = 0; i <= PORT_RELAY_MAX; i++)
        clients[i] = relay_to(port, false);
    assert_int_equal(port_relays_count(relays), PORT_RELAY_MAX);
    assert_int_equal(recv(clients[PORT_RELAY_MAX], &byte, 1, 0), 0);
    assert_int_equal(recv(clients[0], &byte, 1, 0), -1);
    for (int i = 0; i <= PORT_RELAY_MAX; i++)
        close(clients[i]);
    close(listener);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_and_ends_go_both_ways, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_port_that_nobody_serves_closes_the_connection_without_a_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_accepted_connection_is_announced_when_that_is_asked_for,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_breaks_off_closes_both_ways_at_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(many_at_once_all_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_more_than_there_may_be_is_closed_at_once, set_up,
                                        tear_down),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ev_loop_destroy(EV_DEFAULT);
    return failed;
}
