#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "link.h"
#include "program_path.h"
#include "routes.h"

#define MAX_ARGUMENTS 48

struct arguments {
    const char *list[MAX_ARGUMENTS];
    size_t count;
};

static void add(struct arguments *arguments, const char *const *more) {
    while (*more && arguments->count < MAX_ARGUMENTS - 1)
        arguments->list[arguments->count++] = *more++;
    arguments->list[arguments->count] = NULL;
}

/* Nothing is forwarded into the sandbox, and no address of its link leads to the host. The anchor
 * ends before pasta does, which newer versions take for the end of the network. */
static void pasta_arguments(struct arguments *arguments, const char *anchor, bool v6) {
    static const char *const base[] = {"pasta",        "--foreground", "--quiet",
                                       "--config-net", "--no-map-gw",  "--tcp-ports",
                                       "none",         "--udp-ports",  "none",
                                       "--tcp-ns",     "none",         "--udp-ns",
                                       "none",         "--dns",        "none",
                                       "--search",     "none",         "--no-dhcp",
                                       "--no-dhcpv6",  "--no-ra",      "--no-netns-quit",
                                       "--ns-ifname",  LINK_NAME,      "--address",
                                       LINK_ADDRESS,   "--netmask",    LINK_BITS,
                                       "--gateway",    LINK_GATEWAY,   NULL};
    static const char *const with_v6[] = {"--address", LINK_ADDRESS6, "--gateway", LINK_GATEWAY6,
                                          NULL};
    static const char *const v4_only[] = {"--ipv4-only", NULL};
    add(arguments, base);
    add(arguments, v6 ? with_v6 : v4_only);
    add(arguments, (const char *const[]){anchor, NULL});
}

static void slirp_arguments(struct arguments *arguments, const char *anchor,
                            const char *user_namespace) {
    add(arguments, (const char *const[]){
                       "slirp4netns", "--configure", "--mtu=65520", "--disable-host-loopback",
                       "--disable-dns", "--enable-sandbox", "--enable-seccomp",
                       "--cidr=" LINK_RANGE, user_namespace, anchor, LINK_NAME, NULL});
}

static void run(const char *program, struct arguments *arguments, int null_fd, int errors_fd,
                pid_t parent) __attribute__((noreturn));
static void run(const char *program, struct arguments *arguments, int null_fd, int errors_fd,
                pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C", NULL};
    if (getppid() == parent && dup2(null_fd, 0) >= 0 && dup2(errors_fd, 1) >= 0 &&
        dup2(errors_fd, 2) >= 0)
        execve(program, (char *const *)(uintptr_t)arguments->list, environment);
    dprintf(errors_fd, "%s: %s", program, strerror(errno));
    _exit(127);
}

int helper_start(struct helper *helper, pid_t anchor, char *message, size_t room) {
    char program[PATH_MAX], pid_text[24], user_namespace[64];
    snprintf(pid_text, sizeof pid_text, "%ld", (long)anchor);
    snprintf(user_namespace, sizeof user_namespace, "--userns-path=/proc/%ld/ns/user",
             (long)anchor);
    struct arguments arguments = {0};
    if (program_path_find("pasta", program)) {
        helper->name = "pasta";
        bool v6 = routes_have_default(true, NULL);
        helper->both = v6 && routes_have_default(false, NULL);
        pasta_arguments(&arguments, pid_text, v6);
    } else if (program_path_find("slirp4netns", program)) {
        helper->name = "slirp4netns";
        helper->both = false;
        slirp_arguments(&arguments, pid_text, user_namespace);
    } else {
        snprintf(message, room,
                 "no program that gives a sandbox a network is installed: install the package "
                 "\"passt\" (or \"slirp4netns\")");
        return -1;
    }
    int errors[2] = {-1, -1}, null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t parent = getpid();
    helper->pid = null_fd < 0 || pipe2(errors, O_CLOEXEC) < 0 ? -1 : fork();
    if (helper->pid == 0)
        run(program, &arguments, null_fd, errors[1], parent);
    int saved = errno;
    if (null_fd >= 0)
        close(null_fd);
    if (errors[1] >= 0)
        close(errors[1]);
    if (helper->pid < 0) {
        snprintf(message, room, "%s cannot be started: %s", helper->name, strerror(saved));
        return -1;
    }
    helper->errors_fd = errors[0];
    fcntl(errors[0], F_SETFL, O_NONBLOCK);
    return 0;
}

void helper_complaint(const struct helper *helper, char *message, size_t room) {
    char text[1024];
    ssize_t got = read(helper->errors_fd, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = *c == '\n' && c[1] ? ';' : ' ';
    const char *remedy = "";
    if (strstr(text, "/dev/net/tun") || strstr(text, "open tun socket"))
        remedy =
            " (users must be able to open /dev/net/tun: \"sudo modprobe tun\" and \"sudo chmod "
            "0666 /dev/net/tun\"; in a container, start it with --device /dev/net/tun)";
    else if (strstr(text, "routable interface") || strstr(text, "nterface not usable"))
        remedy = " (this host has no default route)";
    snprintf(message, room, "%s: %s%s", helper->name, text[0] ? text : "it ended without a word",
             remedy);
}
