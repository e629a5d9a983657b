/* options_test.c - the agent's command line. */
#include "options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <getopt.h>
#include <string.h>

/* Reads a line of words. */
static int read_line(const char *line, struct options *options) {
    static char text[300];
    char *argv[20];
    int argc = 0;
    strcpy(text, line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    optind = 0;
    return options_read(argc, argv, options);
}

static void takes_a_control_socket(void **state) {
    (void)state;
    struct options options;
    assert_int_equal(read_line("agent --control 5", &options), 0);
    assert_int_equal(options.control, 5);
    assert_int_equal(options.filter, -1);
    assert_string_equal(options.runners, "/opt/stepbox/runners");
    assert_string_equal(options.home, "/home/user");
    assert_int_equal(options.log, LOG_LEVEL_WARN);
    assert_int_equal(
        read_line("agent --control=0 --filter 7 --runners /usr/bin/.. --home ../ --log-level debug",
                  &options),
        0);
    assert_int_equal(options.control, 0);
    assert_int_equal(options.filter, 7);
    assert_string_equal(options.runners, "/usr");
    assert_int_equal(options.home[0], '/'); /* programs start in other directories */
    assert_null(strstr(options.home, ".."));
    assert_int_equal(options.log, LOG_LEVEL_DEBUG);
}

static void takes_addresses(void **state) {
    (void)state;
    struct options options;
    assert_int_equal(read_line("agent --listen 127.0.0.1:49983,[::1]:49999", &options), 0);
    assert_int_equal(options.control, -1);
    struct sockaddr_in *v4 = (struct sockaddr_in *)&options.envd.socket;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&options.code.socket;
    assert_int_equal(v4->sin_family, AF_INET);
    assert_int_equal(ntohs(v4->sin_port), 49983);
    assert_int_equal(ntohl(v4->sin_addr.s_addr), INADDR_LOOPBACK);
    assert_int_equal(v6->sin6_family, AF_INET6);
    assert_int_equal(ntohs(v6->sin6_port), 49999);
    assert_true(IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr));
}

static void takes_amounts(void **state) {
    (void)state;
    struct options options;
    assert_int_equal(read_line("agent --control 5", &options), 0);
    assert_int_equal(options.output, 0);
    assert_int_equal(read_line("agent --control 5 --output 1048576 --memory 2e9", &options), 0);
    assert_int_equal(options.output, 1048576);
    assert_int_equal(options.memory, 2000000000);
}

static void refuses_bad_lines(void **state) {
    (void)state;
    static const char *const lines[] = {
        "agent",
        "agent extra --control 5",
        "agent --control x",
        "agent --control -1",
        "agent --control 5 --listen 127.0.0.1:1,127.0.0.1:2",
        "agent --listen 127.0.0.1:1",
        "agent --listen 127.0.0.1:1,",
        "agent --listen 127.0.0.1:1,host:2",
        "agent --listen 127.0.0.1:70000,127.0.0.1:2",
        "agent --listen ::1:1,127.0.0.1:2",
        "agent --listen :1,:2",
        "agent --control 5 --log-level loud",
        "agent --control 5 --filter x",
        "agent --control 5 --runners /nowhere",
        "agent --control 5 --home /nowhere",
        "agent --listen 127.0.0.1:1,127.0.0.1:2 --filter 5",
        "agent --control 5 --output 0",
        "agent --control 5 --output much",
        "agent --bogus",
    };
    struct options options;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(read_line(lines[i], &options), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_a_control_socket),
        cmocka_unit_test(takes_addresses),
        cmocka_unit_test(takes_amounts),
        cmocka_unit_test(refuses_bad_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
