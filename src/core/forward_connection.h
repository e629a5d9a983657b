/*
 * forward_connection.h - one connection of a forward, from its acceptance to its end.
 *
 * To the local engine: a connection is opened, a tunnel asked for, and bytes are relayed. To a
 * server: the head of the request is read and rewritten, libcurl connects, and bytes are relayed.
 */
#ifndef STEPBOX_CORE_FORWARD_CONNECTION_H
#define STEPBOX_CORE_FORWARD_CONNECTION_H

#include "buffer.h"
#include "forward_relay.h"
#include "forward_target.h"
#include "local_socket.h"

#include <stdint.h>

enum sbi_forward_stage {
    SBI_FORWARD_DIAL,     /* the local engine is to be connected to */
    SBI_FORWARD_TUNNEL,   /* its answer is awaited */
    SBI_FORWARD_HEAD,     /* the request's head is awaited, for a server */
    SBI_FORWARD_CONNECT,  /* libcurl connects */
    SBI_FORWARD_RELAY,    /* bytes go both ways */
    SBI_FORWARD_FAREWELL, /* all is said; until the local side has closed, too */
    SBI_FORWARD_OVER      /* to be freed */
};

struct sbi_forward_connection {
    struct sbi_forward_connection *next;
    const struct sbi_forward_target *target;
    CURLM *multi; /* NULL with the local engine */
    enum sbi_forward_stage stage;
    int64_t due;   /* when something is to be looked at without an event; SBI_NEVER */
    int64_t until; /* SBI_FORWARD_DIAL: the last try */
    int local_fd;
    struct sbi_far far;
    struct sbi_dial dial;
    struct sbi_buffer head; /* the request's, or that of the engine's answer, with what follows */
    bool upgrade;
    struct sbi_relay relay;
    char complaint[CURL_ERROR_SIZE];
};

/* Takes local_fd, also when it fails: NULL without memory. */
struct sbi_forward_connection *sbi_forward_connection_new(const struct sbi_forward_target *target,
                                                          CURLM *multi, int local_fd);
/* Goes as far as it can without waiting. */
void sbi_forward_connection_run(struct sbi_forward_connection *connection);
/* libcurl has connected, or not. */
void sbi_forward_connection_connected(struct sbi_forward_connection *connection, CURLcode result);
/* When to be run without an event. */
int64_t sbi_forward_connection_due(const struct sbi_forward_connection *connection);
/* What to poll() for; 0: nothing. */
short sbi_forward_connection_local_events(const struct sbi_forward_connection *connection);
short sbi_forward_connection_far_events(const struct sbi_forward_connection *connection);
/* Closes what is open. */
void sbi_forward_connection_free(struct sbi_forward_connection *connection);

#endif
