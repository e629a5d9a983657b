/*
 * agent.h - what the two services of the agent share.
 */
#ifndef STEPBOX_AGENT_H
#define STEPBOX_AGENT_H

#include "http_server.h"

#include <stdbool.h>

#define AGENT_PORT_ENVD 49983
#define AGENT_PORT_CODE 49999
#define AGENT_BODY_MAX ((size_t)16 * 1024 * 1024)
/* Seconds that code of a client that left may ignore its interrupt while another step waits. */
#define AGENT_INTERRUPT_GRACE 15.0

/* Whose connection a request came on: the tag of http_server_add(). */
typedef enum agent_peer { AGENT_PEER_CLIENT, AGENT_PEER_ENGINE } agent_peer;

struct agent {
    struct ev_loop *loop;
    const char *runners;
    const char *home;
    double interrupt_grace; /* seconds, see AGENT_INTERRUPT_GRACE */
    int64_t memory;         /* bytes; what may be used, 0: not told */
    double cpus;            /* the same */
    uint64_t output;        /* bytes that a step or a command may put out; 0: any number */
    bool standalone;        /* nobody but clients exists: they may call /init */
    json_t *envs;           /* the variables of every program started, an object of strings */
    char *access_token;     /* NULL: none is asked for */
    char *workdir;          /* where commands start; NULL: home */
    struct runner_source *runner_source; /* NULL without an engine */
    struct process_table *processes;     /* of the process service */
    struct watcher *watchers;            /* of the filesystem service */
};

/* What every answer needs: a connection that the gateway shares must not outlive its request. */
void agent_prepare_reply(http_request *request);
/* Answers with {"code": status, "message": message}. */
void agent_reply_error(http_request *request, int status, const char *message);
/* Whether the request carries the access token, if one is needed. */
bool agent_is_authorized(const struct agent *agent, const http_request *request);
bool agent_token_matches(const struct agent *agent, const char *token);

#endif
