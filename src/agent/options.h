/*
 * options.h - the agent's command line.
 */
#ifndef STEPBOX_OPTIONS_H
#define STEPBOX_OPTIONS_H

#include "log.h"

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

struct address {
    struct sockaddr_storage socket;
    socklen_t length;
};

struct options {
    int control; /* -1: standalone, at the addresses below */
    int filter;  /* -1: none */
    struct address envd, code;
    const char *runners, *home;        /* full paths */
    int64_t memory;                    /* bytes; 0: not told */
    int64_t runner_data, program_data; /* bytes; 0: no limit (spawn_limits.h) */
    double cpus;                       /* the same */
    int64_t output;                    /* bytes of a step or command; 0: any number */
    log_level log;
};

/* 0; 1 when the program is done (--help); -1 when the line is wrong, and stderr says why. */
int options_read(int argc, char **argv, struct options *options);

#endif
