/*
 * watch_polled.c - watchers whose changes are asked for: CreateWatcher, GetWatcherEvents,
 * RemoveWatcher.
 *
 * One that is not asked is held back when it has EVENTS_MAX bytes of events; when the kernel cannot
 * keep the changes of that time either, the question after that is answered with that error.
 */
#include "filesystem_service.h"

#include "connect_messages.h"
#include "connect_unary.h"
#include "watch_call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define WATCHERS_MAX 256
#define EVENTS_MAX ((size_t)1024 * 1024)
#define ID_SIZE 24

struct watcher {
    struct watcher *next;
    struct agent *agent;
    http_request *request;  /* of its creation, until it has begun */
    directory_watch *watch; /* NULL after its end */
    char id[ID_SIZE];
    char *events; /* as in a JSON array, without its brackets */
    size_t length, capacity;
    const char *fault_code; /* why it has ended, or NULL */
    char fault[512];
};

static void free_watcher(struct watcher *watcher) {
    struct watcher **at = &watcher->agent->watchers;
    while (*at && *at != watcher)
        at = &(*at)->next;
    if (*at)
        *at = watcher->next;
    if (watcher->watch)
        watch_free(watcher->watch);
    free(watcher->events);
    free(watcher);
}

static struct watcher *find_watcher(const struct agent *agent, const char *id) {
    struct watcher *watcher = agent->watchers;
    while (watcher && (watcher->request || strcmp(watcher->id, id) != 0))
        watcher = watcher->next;
    return watcher;
}

static bool add_text(struct watcher *watcher, const char *text, size_t length) {
    size_t need = watcher->length + length + 1;
    if (need > watcher->capacity) {
        size_t capacity = need < 1024 ? 1024 : need * 2;
        char *grown = realloc(watcher->events, capacity);
        if (!grown)
            return false;
        watcher->events = grown;
        watcher->capacity = capacity;
    }
    if (watcher->length > 0)
        watcher->events[watcher->length++] = ',';
    memcpy(watcher->events + watcher->length, text, length);
    watcher->length += length;
    return true;
}

static void set_fault(struct watcher *watcher, const char *code, const char *message) {
    if (watcher->fault_code)
        return;
    watcher->fault_code = code;
    snprintf(watcher->fault, sizeof watcher->fault, "%s", message);
}

static void on_begun(void *user) {
    struct watcher *watcher = user;
    http_request *request = watcher->request;
    watcher->request = NULL;
    http_request_on_gone(request, NULL, NULL);
    connect_unary_reply(request, json_pack("{s:s}", "watcherId", watcher->id));
}

static void on_event(void *user, json_t *event) {
    struct watcher *watcher = user;
    char *text = json_dumps(event, JSON_COMPACT);
    if (!text || !add_text(watcher, text, strlen(text)))
        set_fault(watcher, "resource_exhausted", "out of memory: changes were lost");
    free(text);
    json_decref(event);
    if (watcher->length > EVENTS_MAX)
        watch_pause(watcher->watch);
}

static void on_end(void *user, const char *code, const char *message) {
    struct watcher *watcher = user;
    http_request *request = watcher->request;
    watch_free(watcher->watch);
    watcher->watch = NULL;
    if (!request) {
        set_fault(watcher, code, message);
        return;
    }
    free_watcher(watcher);
    connect_reply_error(request, code, message);
}

static void on_gone(void *user) {
    struct watcher *watcher = user;
    http_request *request = watcher->request;
    free_watcher(watcher);
    http_reply(request, 204, NULL, NULL, 0); /* lets it go */
}

static size_t count_watchers(const struct agent *agent) {
    size_t count = 0;
    for (const struct watcher *watcher = agent->watchers; watcher; watcher = watcher->next)
        count++;
    return count;
}

static void create(struct agent *agent, http_request *request, const json_t *message) {
    static const watch_listener listener = {on_begun, on_event, on_end};
    uint64_t number;
    if (count_watchers(agent) >= WATCHERS_MAX) {
        connect_reply_error(request, "resource_exhausted",
                            "there are too many watchers: remove those that are not needed");
        return;
    }
    struct watcher *watcher = calloc(1, sizeof *watcher);
    if (!watcher || getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
        free(watcher);
        connect_reply_error(request, "resource_exhausted", "out of memory");
        return;
    }
    watcher->agent = agent;
    watcher->request = request;
    snprintf(watcher->id, sizeof watcher->id, "w%016" PRIx64, number);
    watcher->watch =
        watch_call_start(agent, request, message, &listener, watcher, connect_reply_error);
    if (!watcher->watch) {
        free(watcher);
        return;
    }
    watcher->next = agent->watchers;
    agent->watchers = watcher;
    http_request_on_gone(request, on_gone, watcher);
}

void filesystem_create_watcher(struct agent *agent, http_request *request) {
    json_t *message = filesystem_read(request);
    if (!message)
        return;
    create(agent, request, message);
    json_decref(message);
}

/* The watcher that the request names; NULL: answered. */
static struct watcher *named_watcher(struct agent *agent, http_request *request) {
    json_t *message = filesystem_read(request);
    if (!message)
        return NULL;
    const char *id = json_string_value(filesystem_member(message, "watcherId", "watcher_id"));
    struct watcher *watcher = id ? find_watcher(agent, id) : NULL;
    char text[100];
    if (!id) {
        connect_reply_error(request, "invalid_argument", "watcherId must be a string");
    } else if (!watcher) {
        snprintf(text, sizeof text, "watcher with id %.40s not found", id);
        connect_reply_error(request, "not_found", text);
    }
    json_decref(message);
    return watcher;
}

void filesystem_get_watcher_events(struct agent *agent, http_request *request) {
    static const char begin[] = "{\"events\":[", end[] = "]}";
    struct watcher *watcher = named_watcher(agent, request);
    if (!watcher)
        return;
    /* What was seen before its end comes first. */
    if (watcher->fault_code && watcher->length == 0) {
        connect_reply_error(request, watcher->fault_code, watcher->fault);
        return;
    }
    size_t length = sizeof begin - 1 + watcher->length + sizeof end - 1;
    char *text = malloc(length);
    if (!text) {
        connect_unary_reply(request, NULL);
        return;
    }
    memcpy(text, begin, sizeof begin - 1);
    if (watcher->length > 0)
        memcpy(text + sizeof begin - 1, watcher->events, watcher->length);
    memcpy(text + length - (sizeof end - 1), end, sizeof end - 1);
    http_reply(request, 200, CONNECT_UNARY_TYPE, text, length);
    free(text);
    free(watcher->events);
    watcher->events = NULL;
    watcher->length = watcher->capacity = 0;
    if (watcher->watch)
        watch_resume(watcher->watch);
}

void filesystem_remove_watcher(struct agent *agent, http_request *request) {
    struct watcher *watcher = named_watcher(agent, request);
    if (!watcher)
        return;
    free_watcher(watcher);
    connect_unary_reply(request, json_object());
}

void filesystem_free_watchers(struct agent *agent) {
    while (agent->watchers) {
        agent->watchers->request = NULL;
        free_watcher(agent->watchers);
    }
}
