#include "engine_options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "usage.h"

#define DAEMON_IDLE_TIMEOUT 60.0

static options_result wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static options_result wrong(const char *format, ...) {
    char message[PATH_MAX + 256];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fprintf(stderr, "stepboxd: %s\nTry: stepboxd --help\n", message);
    return OPTIONS_WRONG;
}

/* Copies path into out[PATH_MAX], made absolute: a daemon changes its directory. 0, or -1 with
 * errno. */
static int absolute(const char *path, char *out) {
    char here[PATH_MAX] = "";
    if (path[0] != '/') {
        if (!getcwd(here, sizeof here))
            return -1;
        strncat(here, "/", sizeof here - strlen(here) - 1);
    }
    int length = snprintf(out, PATH_MAX, "%s%s", here, path);
    if (length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return 0;
}

/* "127.0.0.1:3000", "[::1]:3000", "localhost:3000". 0, or -1 with *why. */
static int parse_address(const char *text, struct options *options, const char **why) {
    const char *colon = strrchr(text, ':');
    char host[256];
    size_t length = colon ? (size_t)(colon - text) : 0;
    if (!colon || length == 0 || length >= sizeof host) {
        *why = "must be ADDRESS:PORT";
        return -1;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    char *name = host;
    if (host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        name = host + 1;
    } else if (strchr(host, ':')) {
        *why = "has an IPv6 address that is not in brackets, as in [::1]:3000";
        return -1;
    }
    char *end;
    long port = strtol(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end || port > 65535) {
        *why = "must end with a port from 0 to 65535 (0: any free one)";
        return -1;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int failed = getaddrinfo(name, colon + 1, &hints, &found);
    if (failed) {
        *why = gai_strerror(failed);
        return -1;
    }
    memcpy(&options->listen_address, found->ai_addr, found->ai_addrlen);
    options->listen_length = found->ai_addrlen;
    if (found->ai_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)&options->listen_address;
        options->listen_is_loopback = (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
    } else {
        const struct sockaddr_in6 *v6 = (const void *)&options->listen_address;
        options->listen_is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    }
    freeaddrinfo(found);
    return 0;
}

/* Copies a key and wipes the original. 0, or -1 when it cannot be a header's value. */
static int take_key(struct options *options, char *key) {
    size_t length = strlen(key);
    int bad = length == 0 || length >= sizeof options->api_key;
    for (size_t i = 0; i < length && !bad; i++)
        bad = key[i] <= ' ' || key[i] > '~';
    if (!bad)
        memcpy(options->api_key, key, length + 1);
    memset(key, 'x', length);
    return bad ? -1 : 0;
}

static int parse_seconds(const char *text, double *seconds) {
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end || errno || !(value >= 0 && value <= 1e9))
        return -1;
    *seconds = value;
    return 0;
}

static int parse_descriptor(const char *text, int *fd) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 0 || value > INT_MAX ||
        fcntl((int)value, F_GETFD) < 0)
        return -1;
    *fd = (int)value;
    return 0;
}

/* What the options left open: the socket's place, and the programs beside this one. */
static options_result fill_in(struct options *options, const char *socket, const char *agent,
                              const char *runners) {
    char path[PATH_MAX];
    const char *given = getenv("STEPBOX_SOCKET"), *runtime = getenv("XDG_RUNTIME_DIR");
    if (!socket) {
        if (given && given[0])
            snprintf(path, sizeof path, "%s", given);
        else if (runtime && runtime[0] == '/')
            snprintf(path, sizeof path, "%s/stepbox/engine.sock", runtime);
        else
            snprintf(path, sizeof path, "/tmp/stepbox-%lu/engine.sock", (unsigned long)geteuid());
        socket = path;
    }
    if (options->serve_unix && absolute(socket, options->socket_path) < 0)
        return wrong("--socket %s: %s", socket, strerror(errno));

    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return wrong("cannot find my own program: /proc/self/exe: %s", strerror(errno));
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    char beside[PATH_MAX + 32];
    snprintf(beside, sizeof beside, "%s/stepbox-agent", self);
    if (absolute(agent ? agent : beside, options->agent) < 0)
        return wrong("--agent: %s", strerror(errno));
    snprintf(beside, sizeof beside, "%s/../share/stepbox/runners", self);
    if (absolute(runners ? runners : beside, options->runners) < 0)
        return wrong("--runners: %s", strerror(errno));
    return OPTIONS_RUN;
}

enum {
    OPT_SOCKET = 1,
    OPT_DAEMON,
    OPT_READY_FD,
    OPT_LISTEN,
    OPT_API_KEY,
    OPT_DOMAIN,
    OPT_IDLE,
    OPT_LOG_LEVEL,
    OPT_CONFIG,
    OPT_BWRAP,
    OPT_AGENT,
    OPT_RUNNERS,
    OPT_HELP,
    OPT_VERSION
};

static const struct option long_options[] = {{"socket", required_argument, NULL, OPT_SOCKET},
                                             {"daemon", no_argument, NULL, OPT_DAEMON},
                                             {"ready-fd", required_argument, NULL, OPT_READY_FD},
                                             {"listen", required_argument, NULL, OPT_LISTEN},
                                             {"api-key", required_argument, NULL, OPT_API_KEY},
                                             {"domain", required_argument, NULL, OPT_DOMAIN},
                                             {"idle-timeout", required_argument, NULL, OPT_IDLE},
                                             {"log-level", required_argument, NULL, OPT_LOG_LEVEL},
                                             {"config", required_argument, NULL, OPT_CONFIG},
                                             {"bwrap", required_argument, NULL, OPT_BWRAP},
                                             {"agent", required_argument, NULL, OPT_AGENT},
                                             {"runners", required_argument, NULL, OPT_RUNNERS},
                                             {"help", no_argument, NULL, OPT_HELP},
                                             {"version", no_argument, NULL, OPT_VERSION},
                                             {0}};

options_result options_parse(struct options *options, int argc, char **argv) {
    *options = (struct options){.ready_fd = -1, .level = LOG_LEVEL_WARN, .idle_timeout = -1};
    const char *socket = NULL, *agent = NULL, *runners = NULL, *why = NULL;
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case OPT_SOCKET:
            socket = optarg;
            break;
        case OPT_DAEMON:
            options->daemon = true;
            break;
        case OPT_READY_FD:
            if (parse_descriptor(optarg, &options->ready_fd) < 0)
                return wrong("--ready-fd %s is not an open descriptor", optarg);
            break;
        case OPT_LISTEN:
            if (parse_address(optarg, options, &why) < 0)
                return wrong("--listen %s: %s", optarg, why);
            options->serve_tcp = true;
            break;
        case OPT_API_KEY:
            if (take_key(options, optarg) < 0)
                return wrong("--api-key must be 1 to %d visible ASCII characters",
                             OPTIONS_KEY_MAX - 1);
            break;
        case OPT_DOMAIN:
            options->domain = optarg;
            break;
        case OPT_IDLE:
            if (parse_seconds(optarg, &options->idle_timeout) < 0)
                return wrong("--idle-timeout %s is not a number of seconds", optarg);
            break;
        case OPT_LOG_LEVEL:
            if (log_level_parse(optarg, &options->level) < 0)
                return wrong("--log-level %s is none of error, warn, info, debug", optarg);
            break;
        case OPT_CONFIG:
            if (absolute(optarg, options->config) < 0)
                return wrong("--config %s: %s", optarg, strerror(errno));
            break;
        case OPT_BWRAP:
            if (absolute(optarg, options->bwrap) < 0)
                return wrong("--bwrap %s: %s", optarg, strerror(errno));
            break;
        case OPT_AGENT:
            agent = optarg;
            break;
        case OPT_RUNNERS:
            runners = optarg;
            break;
        case OPT_HELP:
            usage_print(stdout);
            return OPTIONS_SHOWN;
        case OPT_VERSION:
            usage_print_version(stdout);
            return OPTIONS_SHOWN;
        default: /* getopt has said what is wrong */
            fputs("Try: stepboxd --help\n", stderr);
            return OPTIONS_WRONG;
        }
    }
    if (optind < argc)
        return wrong("unexpected argument: %s", argv[optind]);

    char *environment_key = getenv("STEPBOX_API_KEY");
    if (environment_key && environment_key[0]) {
        if (options->api_key[0])
            memset(environment_key, 'x', strlen(environment_key));
        else if (take_key(options, environment_key) < 0)
            return wrong("STEPBOX_API_KEY must be 1 to %d visible ASCII characters",
                         OPTIONS_KEY_MAX - 1);
    }
    unsetenv("STEPBOX_API_KEY");
    if (options->serve_tcp && !options->api_key[0])
        return wrong("--listen needs a key: set STEPBOX_API_KEY, or give --api-key");

    options->serve_unix = socket || !options->serve_tcp;
    if (options->idle_timeout < 0)
        options->idle_timeout = options->daemon && !options->serve_tcp ? DAEMON_IDLE_TIMEOUT : 0;
    return fill_in(options, socket, agent, runners);
}
