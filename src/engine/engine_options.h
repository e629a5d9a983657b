/*
 * engine_options.h - what stepboxd was asked to do, from its arguments and environment.
 */
#ifndef STEPBOX_ENGINE_OPTIONS_H
#define STEPBOX_ENGINE_OPTIONS_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "log.h"

#define OPTIONS_KEY_MAX 256

struct options {
    bool serve_unix;
    char socket_path[PATH_MAX]; /* absolute; set when serve_unix */
    bool serve_tcp;
    struct sockaddr_storage listen_address;
    socklen_t listen_length;
    bool listen_is_loopback;
    char api_key[OPTIONS_KEY_MAX]; /* "" unless serve_tcp */
    bool daemon;
    int ready_fd;        /* where to write "ready" or "error: ...", or -1 */
    const char *domain;  /* or NULL */
    double idle_timeout; /* seconds; 0: never leave */
    log_level level;
    char config[PATH_MAX];  /* absolute, or "": the default one, if it is there */
    char bwrap[PATH_MAX];   /* absolute, or "": search PATH when a sandbox is made */
    char agent[PATH_MAX];   /* absolute */
    char runners[PATH_MAX]; /* absolute */
};

typedef enum options_result {
    OPTIONS_RUN,   /* go on */
    OPTIONS_SHOWN, /* --help or --version was printed: exit 0 */
    OPTIONS_WRONG  /* a message was printed to stderr: exit 2 */
} options_result;

/* Parses argv. A key in argv or in the environment is copied and then overwritten there, because
 * others can read a process's arguments. Strings that are not copied point into argv. */
options_result options_parse(struct options *options, int argc, char **argv);

#endif
