/* envd.c - the paths of the service. */
#include "envd.h"

#include "command.h"
#include "connect_messages.h"
#include "init.h"

#include <string.h>

static void reply_health(struct agent *agent, http_request *request) {
    (void)agent;
    http_reply(request, 204, NULL, NULL, 0);
}

static void reply_envs(struct agent *agent, http_request *request) {
    http_reply_json(request, 200, json_incref(agent->envs));
}

static const struct {
    const char *method, *path;
    bool needs_token;
    void (*handle)(struct agent *agent, http_request *request);
} routes[] = {
    {"GET", "/health", false, reply_health},
    {"HEAD", "/health", false, reply_health},
    {"POST", "/init", false, init_handle}, /* knows itself who may */
    {"GET", "/envs", true, reply_envs},
    {"POST", "/process.Process/Start", true, command_start},
};

/* Connect's paths are /package.Service/Procedure. */
static bool is_procedure(const char *path) {
    const char *slash = strchr(path + 1, '/');
    return *path == '/' && slash && memchr(path, '.', (size_t)(slash - path));
}

void envd_handle(http_request *request, void *user) {
    struct agent *agent = user;
    const char *path = http_request_path(request);
    bool known = false;
    agent_prepare_reply(request);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(path, routes[i].path) != 0)
            continue;
        known = true;
        if (strcmp(http_request_method(request), routes[i].method) != 0)
            continue;
        if (!routes[i].needs_token || agent_is_authorized(agent, request))
            routes[i].handle(agent, request);
        else if (is_procedure(path))
            connect_reply_error(request, "unauthenticated", "the access token is missing or wrong");
        else
            agent_reply_error(request, 401, "the access token is missing or wrong");
        return;
    }
    if (!known && is_procedure(path))
        connect_reply_error(request, "unimplemented", "there is no such procedure");
    else if (known)
        agent_reply_error(request, 405, "the path does not take this method");
    else
        agent_reply_error(request, 404, "there is no such path");
}
