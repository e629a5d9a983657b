/* options.c - see options.h */
#include "options.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: stepbox-agent --control FD [options]\n"
    "       stepbox-agent --listen ADDRESS:PORT,ADDRESS:PORT [options]\n"
    "\n"
    "Runs code and programs for clients of the E2B protocol.\n"
    "\n"
    "  --control FD      take connections from the engine, on this socket; leave when it closes\n"
    "  --filter FD       run under this filter of system calls; only with --control\n"
    "  --listen A,A      listen for envd clients on the first, for code interpreter clients on "
    "the\n"
    "                    second address ([ADDRESS]:PORT for IPv6)\n"
    "  --runners DIR     where the runners of the languages are (/opt/stepbox/runners)\n"
    "  --home DIR        where contexts and commands start (/home/user)\n"
    "  --memory BYTES    what programs may use, for /metrics (the machine's)\n"
    "  --cpus N          the same of processors\n"
    "  --runner-data B   bytes of its own memory that a runner may write to (no limit)\n"
    "  --program-data B  the same for every program, which cannot raise it\n"
    "  --output BYTES    what a step or a command may put out; the rest is dropped (no limit)\n"
    "  --log-level LEVEL error, warn (the default), info or debug\n";

/* In full: programs start in other directories. */
static char runners[PATH_MAX], home[PATH_MAX];

static int number(const char *text, long max) {
    char *end;
    long value = strtol(text, &end, 10);
    return *text && !*end && value >= 0 && value <= max ? (int)value : -1;
}

/* ADDRESS:PORT or [ADDRESS]:PORT, numeric. */
static int read_address(const char *text, size_t length, struct address *address) {
    char host[64];
    if (length >= sizeof host)
        return -1;
    memcpy(host, text, length);
    host[length] = '\0';
    char *colon = strrchr(host, ':');
    int port = colon ? number(colon + 1, 65535) : -1;
    if (port < 0)
        return -1;
    *colon = '\0';
    struct sockaddr_in *v4 = (struct sockaddr_in *)&address->socket;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address->socket;
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        address->length = sizeof *v4;
        return 0;
    }
    if (host[0] != '[' || colon[-1] != ']')
        return -1;
    colon[-1] = '\0';
    if (inet_pton(AF_INET6, host + 1, &v6->sin6_addr) != 1)
        return -1;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons((uint16_t)port);
    address->length = sizeof *v6;
    return 0;
}

static int read_listen(const char *text, struct options *options) {
    size_t first = strcspn(text, ",");
    return text[first] && read_address(text, first, &options->envd) == 0 &&
                   read_address(text + first + 1, strlen(text + first + 1), &options->code) == 0
               ? 0
               : -1;
}

static int read_amount(const char *text, double most, double *amount) {
    char *end;
    *amount = strtod(text, &end);
    return *text && !*end && *amount > 0 && *amount <= most ? 0 : -1;
}

static int read_bytes(const char *text, int64_t *bytes) {
    double amount;
    if (read_amount(text, 1e18, &amount) < 0)
        return -1;
    *bytes = (int64_t)amount;
    return 0;
}

static int take(int option, struct options *options) {
    switch (option) {
    case 'c':
        return (options->control = number(optarg, INT_MAX)) < 0 ? -1 : 0;
    case 'f':
        return (options->filter = number(optarg, INT_MAX)) < 0 ? -1 : 0;
    case 'l':
        return read_listen(optarg, options);
    case 'r':
        return (options->runners = realpath(optarg, runners)) ? 0 : -1;
    case 'h':
        return (options->home = realpath(optarg, home)) ? 0 : -1;
    case 'm':
        return read_bytes(optarg, &options->memory);
    case 'd':
        return read_bytes(optarg, &options->runner_data);
    case 'D':
        return read_bytes(optarg, &options->program_data);
    case 'o':
        return read_bytes(optarg, &options->output);
    case 'p':
        return read_amount(optarg, 1e6, &options->cpus);
    case 'g':
        return log_level_parse(optarg, &options->log);
    default:
        return -1;
    }
}

int options_read(int argc, char **argv, struct options *options) {
    static const struct option known[] = {{"control", required_argument, NULL, 'c'},
                                          {"filter", required_argument, NULL, 'f'},
                                          {"listen", required_argument, NULL, 'l'},
                                          {"runners", required_argument, NULL, 'r'},
                                          {"home", required_argument, NULL, 'h'},
                                          {"memory", required_argument, NULL, 'm'},
                                          {"cpus", required_argument, NULL, 'p'},
                                          {"runner-data", required_argument, NULL, 'd'},
                                          {"program-data", required_argument, NULL, 'D'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"log-level", required_argument, NULL, 'g'},
                                          {"help", no_argument, NULL, '?' + 256},
                                          {0}};
    int option, index = 0;
    *options = (struct options){.control = -1,
                                .filter = -1,
                                .runners = "/opt/stepbox/runners",
                                .home = "/home/user",
                                .log = LOG_LEVEL_WARN};
    while ((option = getopt_long(argc, argv, "", known, &index)) != -1) {
        if (option == '?' + 256) {
            fputs(usage, stdout);
            return 1;
        }
        if (option == '?')
            return -1; /* getopt_long has said what */
        if (take(option, options)) {
            fprintf(stderr, "stepbox-agent: bad value for --%s: %s\n", known[index].name, optarg);
            return -1;
        }
    }
    if (optind < argc || (options->control >= 0) == (options->envd.length > 0) ||
        (options->filter >= 0 && options->control < 0)) {
        fputs(usage, stderr);
        return -1;
    }
    return 0;
}
