/* envd.c - the paths of the service. */
#include "envd.h"

#include "connect_messages.h"
#include "files_service.h"
#include "filesystem_service.h"
#include "init.h"
#include "metrics.h"
#include "privileges.h"
#include "process_service.h"

#include <string.h>

static void reply_health(struct agent *agent, http_request *request) {
    (void)agent;
    http_reply(request, 204, NULL, NULL, 0);
}

static void reply_envs(struct agent *agent, http_request *request) {
    http_reply_json(request, 200, json_incref(agent->envs));
}

#define NEEDS_TOKEN 1
#define STREAMS 2 /* called at the request's head, to have the body streamed or to answer */
#define SETS_UP 4 /* for the engine alone */

static const struct route {
    const char *method, *path;
    int flags;
    void (*handle)(struct agent *agent, http_request *request);
} routes[] = {
    {"GET", "/health", 0, reply_health},
    {"HEAD", "/health", 0, reply_health},
    {"POST", "/init", SETS_UP, init_handle},
    {"GET", "/envs", NEEDS_TOKEN, reply_envs},
    {"GET", "/metrics", NEEDS_TOKEN, metrics_handle},
    {"POST", "/process.Process/Start", NEEDS_TOKEN, process_service_start},
    {"POST", "/process.Process/Connect", NEEDS_TOKEN, process_service_connect},
    {"POST", "/process.Process/List", NEEDS_TOKEN, process_service_list},
    {"POST", "/process.Process/Update", NEEDS_TOKEN, process_service_update},
    {"POST", "/process.Process/SendInput", NEEDS_TOKEN, process_service_send_input},
    {"POST", "/process.Process/StreamInput", NEEDS_TOKEN | STREAMS, process_service_stream_input},
    {"POST", "/process.Process/CloseStdin", NEEDS_TOKEN, process_service_close_stdin},
    {"POST", "/process.Process/SendSignal", NEEDS_TOKEN, process_service_send_signal},
    {"POST", "/filesystem.Filesystem/Stat", NEEDS_TOKEN, filesystem_stat},
    {"POST", "/filesystem.Filesystem/MakeDir", NEEDS_TOKEN, filesystem_make_dir},
    {"POST", "/filesystem.Filesystem/Move", NEEDS_TOKEN, filesystem_move},
    {"POST", "/filesystem.Filesystem/ListDir", NEEDS_TOKEN, filesystem_list_dir},
    {"POST", "/filesystem.Filesystem/Remove", NEEDS_TOKEN, filesystem_remove},
    {"POST", "/filesystem.Filesystem/WatchDir", NEEDS_TOKEN, filesystem_watch_dir},
    {"POST", "/filesystem.Filesystem/CreateWatcher", NEEDS_TOKEN, filesystem_create_watcher},
    {"POST", "/filesystem.Filesystem/GetWatcherEvents", NEEDS_TOKEN, filesystem_get_watcher_events},
    {"POST", "/filesystem.Filesystem/RemoveWatcher", NEEDS_TOKEN, filesystem_remove_watcher},
    {"GET", "/files", 0, files_get}, /* these look at the token or a signature themselves */
    {"HEAD", "/files", 0, files_get},
    {"POST", "/files", STREAMS, files_post},
    {"POST", "/files/compose", NEEDS_TOKEN, files_compose},
};

/* Connect's paths are /package.Service/Procedure. */
static bool is_procedure(const char *path) {
    const char *slash = strchr(path + 1, '/');
    return *path == '/' && slash && memchr(path, '.', (size_t)(slash - path));
}

/* The route of the request; NULL when there is none, then *known says whether its path is one. */
static const struct route *find_route(const http_request *request, bool *known) {
    const char *path = http_request_path(request);
    *known = false;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(path, routes[i].path) != 0)
            continue;
        *known = true;
        if (strcmp(http_request_method(request), routes[i].method) == 0)
            return &routes[i];
    }
    return NULL;
}

static bool may_follow(const struct agent *agent, const http_request *request,
                       const struct route *route) {
    return (!(route->flags & SETS_UP) || init_is_welcome(agent, request)) &&
           (!(route->flags & NEEDS_TOKEN) || agent_is_authorized(agent, request));
}

static void refuse(http_request *request, const struct route *route) {
    http_reply_to_stranger(request);
    if (route->flags & SETS_UP)
        agent_reply_error(request, 403, "only the engine may set this up");
    else if (is_procedure(route->path))
        connect_reply_error(request, "unauthenticated", "the access token is missing or wrong");
    else
        agent_reply_error(request, 401, "the access token is missing or wrong");
}

/* Routes act as the user that the request names; what they do later is theirs to see to. */
static void follow(struct agent *agent, http_request *request, const struct route *route) {
    privileges_act_as(AGENT_USER); /* until it says otherwise */
    route->handle(agent, request);
    privileges_act_as(AGENT_USER);
}

static void reply_unknown(http_request *request, bool known) {
    if (!known && is_procedure(http_request_path(request)))
        connect_reply_error(request, "unimplemented", "there is no such procedure");
    else if (known)
        agent_reply_error(request, 405, "the path does not take this method");
    else
        agent_reply_error(request, 404, "there is no such path");
}

/* Whom nothing is done for gets the answer before the body: nothing of a stranger's is kept. */
void envd_head(http_request *request, void *user) {
    bool known;
    const struct route *route = find_route(request, &known);
    agent_prepare_reply(request);
    if (!route) {
        http_reply_to_stranger(request);
        reply_unknown(request, known);
    } else if (!may_follow(user, request, route)) {
        refuse(request, route);
    } else if (route->flags & STREAMS) {
        follow(user, request, route);
    }
}

void envd_handle(http_request *request, void *user) {
    bool known;
    follow(user, request, find_route(request, &known));
}
