/*
 * server.h - the part of stepbox-egress that reads what comes from the sandbox: its queries and its
 * connections. It is a process of its own, confined (confinement.h) before it reads the first byte;
 * what has rights over the sandbox reads nothing from it but a byte for each policy.
 */
#ifndef STEPBOX_SERVER_H
#define STEPBOX_SERVER_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "inside.h"

struct server {
    pid_t pid;
    int channel; /* its end is the server's, and the other way round */
};

/* Starts it with the sockets (taken) and a first policy; it makes itself ready meanwhile. 0, or -1
 * with message. */
int server_start(struct server *server, const struct inside_sockets *sockets, json_t *policy,
                 char *message, size_t room);

/* Waits until it is confined and serves. 0, or -1 with message. */
int server_await(const struct server *server, char *message, size_t room);

/* Gives it another policy, and waits until it is in force and connections under the last one are
 * cut. 0, or -1 with message: then it is not known which one is. */
int server_set_policy(const struct server *server, json_t *policy, char *message, size_t room);

#endif
