/*
 * route.h - reads the head of the first request on a connection, to see where the connection
 * belongs.
 *
 * The bytes are foreign. The parser takes the caller's buffer, keeps nothing, and is strict where
 * two readers of the same bytes could disagree (this one, and the server that gets the connection):
 * such a head is bad.
 */
#ifndef STEPBOX_ROUTE_H
#define STEPBOX_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROUTE_ID_MAX 64
/* The two that the agent of a sandbox serves itself. */
#define ROUTE_DEFAULT_PORT 49983
#define ROUTE_CODE_PORT 49999

enum route_result {
    ROUTE_DONE, /* *route is filled in */
    ROUTE_MORE, /* no whole head yet */
    ROUTE_BAD   /* not a request that we pass on; route->bad says why */
};

struct route {
    bool to_sandbox; /* else to the control plane */
    bool tunnel;     /* CONNECT: behind the head come bytes of any protocol; always to_sandbox */
    bool upgrade;    /* to another protocol, should the server agree */
    bool by_header;  /* E2b-Sandbox-Id, not the host's name: the next request may be for another
                        sandbox */
    char id[ROUTE_ID_MAX]; /* of the sandbox */
    uint16_t port;
    size_t head_length;      /* with the empty line */
    bool chunked;            /* how the body ends */
    uint64_t content_length; /* 0 without a body */
    const char *api_key;     /* X-API-Key, within the head; NULL: none */
    size_t api_key_length;
    const char *traffic_token; /* E2b-Traffic-Access-Token, the same */
    size_t traffic_token_length;
    const char *bad; /* static text */
};

/* *scanned must be 0 at first and be left alone between calls with the same, growing bytes: work is
 * done once. */
enum route_result route_parse(const char *bytes, size_t length, size_t *scanned,
                              struct route *route);

#endif
