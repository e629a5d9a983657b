/* files_compose.c - POST /files/compose: joins files to one. */
#include "files_access.h"
#include "files_service.h"

#include "file_copy.h"
#include "path.h"
#include "privileges.h"
#include "user.h"
#include "uuid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCES_MAX 10000

struct composition {
    struct agent *agent;
    http_request *request;
    json_t *body;
    char **sources; /* resolved */
    size_t count, at;
    char *destination;
    char *temporary; /* beside the destination, until it gets its name; NULL: not made */
    int from, to;    /* of the source being copied, and of the temporary file; or -1 */
    files_fault fault;
    struct ev_timer next; /* copies a slice when others had their turn */
    agent_user user;
};

/* What is left after success is nothing; after failure the temporary file goes. */
static void free_composition(struct composition *work) {
    ev_timer_stop(work->agent->loop, &work->next);
    if (work->from >= 0)
        close(work->from);
    if (work->to >= 0)
        close(work->to);
    if (work->temporary)
        unlink(work->temporary);
    for (size_t i = 0; i < work->count; i++)
        free(work->sources[i]);
    free(work->sources);
    free(work->destination);
    free(work->temporary);
    json_decref(work->body);
    free(work);
}

static void refuse(struct composition *work) {
    http_request *request = work->request;
    files_fault fault = work->fault;
    free_composition(work);
    files_access_refuse(request, &fault);
}

static char *resolve(struct composition *work, const json_t *value) {
    return files_access_path(work->agent, json_string_value(value), json_string_length(value),
                             &work->fault);
}

/* Reads what is asked for. */
static int read_request(struct composition *work) {
    files_fault *fault = &work->fault;
    const json_t *sources = json_object_get(work->body, "source_paths");
    const json_t *destination = json_object_get(work->body, "destination");
    const json_t *user = json_object_get(work->body, "username");
    if (!json_is_object(work->body))
        return files_fault_set(fault, 400, "the body must be a JSON object");
    if (user && !json_is_null(user) && !json_is_string(user))
        return files_fault_set(fault, 400, "username must be a string");
    if (!user_enter(json_string_value(user)))
        return files_fault_set(fault, 401, "%s", user_unknown());
    if (!json_is_array(sources) || json_array_size(sources) == 0)
        return files_fault_set(fault, 400, "source_paths must be a list of at least one path");
    if (json_array_size(sources) > SOURCES_MAX)
        return files_fault_set(fault, 400, "source_paths has more than %d paths", SOURCES_MAX);
    if (json_string_length(destination) == 0)
        return files_fault_set(fault, 400, "destination must be a path");
    if (!(work->destination = resolve(work, destination)))
        return -1;
    work->sources = calloc(json_array_size(sources), sizeof *work->sources);
    if (!work->sources)
        return files_fault_set(fault, 500, "out of memory");
    for (size_t i = 0; i < json_array_size(sources); i++) {
        const json_t *source = json_array_get(sources, i);
        if (json_string_length(source) == 0)
            return files_fault_set(fault, 400, "source_paths must be paths");
        if (!(work->sources[i] = resolve(work, source)))
            return -1;
        work->count++;
    }
    return 0;
}

/* Sources must be regular files, and none of them the destination by whatever name. */
static int check_files(struct composition *work) {
    files_fault *fault = &work->fault;
    struct stat source, destination;
    bool exists = stat(work->destination, &destination) == 0;
    size_t length = strlen(work->destination);
    if ((exists && S_ISDIR(destination.st_mode)) || work->destination[length - 1] == '/')
        return files_fault_errno(fault, EISDIR, "composing", work->destination);
    for (size_t i = 0; i < work->count; i++) {
        const char *path = work->sources[i];
        if (stat(path, &source))
            return files_fault_errno(fault, errno, "reading", path);
        if (!S_ISREG(source.st_mode))
            return files_fault_set(fault, 400, "path '%s' is not a regular file", path);
        if (strcmp(path, work->destination) == 0 ||
            (exists && source.st_dev == destination.st_dev && source.st_ino == destination.st_ino))
            return files_fault_set(fault, 400, "path '%s' is the destination too", path);
    }
    return 0;
}

/* The name is short: the destination's may be as long as names can be. */
static int make_temporary(struct composition *work) {
    char id[UUID_SIZE];
    size_t length;
    const char *name = path_name(work->destination, &length);
    if (path_make_parents(work->destination))
        return files_fault_errno(&work->fault, errno, "composing", work->destination);
    if (uuid_make(id))
        return files_fault_set(&work->fault, 500, "the system has no randomness to give");
    if (asprintf(&work->temporary, "%.*s.compose-%s", (int)(name - work->destination),
                 work->destination, id) < 0) {
        work->temporary = NULL;
        return files_fault_set(&work->fault, 500, "out of memory");
    }
    work->to = open(work->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (work->to >= 0)
        return 0;
    int error = errno;
    free(work->temporary);
    work->temporary = NULL;
    return files_fault_errno(&work->fault, error, "composing", work->destination);
}

/* Copies a slice. 1: there is more, 0: all is copied, -1: failed. */
static int copy(struct composition *work) {
    const char *path = work->sources[work->at];
    if (work->from < 0) {
        work->from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        if (work->from < 0)
            return files_fault_errno(&work->fault, errno, "opening", path);
    }
    ssize_t copied = file_copy(work->from, work->to);
    if (copied < 0)
        return files_fault_errno(&work->fault, errno, "composing", path);
    if (copied > 0)
        return 1;
    close(work->from);
    work->from = -1;
    return ++work->at < work->count;
}

/* Gives the file its name, and only then removes the sources. */
static int complete(struct composition *work) {
    int failed = close(work->to) && errno != EINTR;
    work->to = -1;
    if (failed || rename(work->temporary, work->destination))
        return files_fault_errno(&work->fault, errno, "composing", work->destination);
    free(work->temporary);
    work->temporary = NULL;
    for (size_t i = 0; i < work->count; i++)
        unlink(work->sources[i]);
    return 0;
}

static void advance(struct composition *work) {
    int more = copy(work);
    if (more > 0) {
        ev_timer_start(work->agent->loop, &work->next);
        return;
    }
    if (more < 0 || complete(work)) {
        refuse(work);
        return;
    }
    http_request *request = work->request;
    json_t *entry = files_access_entry(work->destination, false);
    free_composition(work);
    http_reply_json(request, 200, entry);
}

static void on_next(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    struct composition *work = timer->data;
    privileges_act_as(work->user);
    advance(work);
    privileges_act_as(AGENT_USER);
}

static void on_gone(void *user) {
    struct composition *work = user;
    privileges_act_as(work->user);
    files_fault_set(&work->fault, 400, "the client left");
    refuse(work);
    privileges_act_as(AGENT_USER);
}

void files_compose(struct agent *agent, http_request *request) {
    size_t length;
    const char *text = http_request_body(request, &length);
    json_error_t error;
    struct composition *work = calloc(1, sizeof *work);
    if (!work) {
        agent_reply_error(request, 500, "out of memory");
        return;
    }
    work->agent = agent;
    work->request = request;
    work->from = work->to = -1;
    ev_timer_init(&work->next, on_next, 0.0, 0.0);
    work->next.data = work;
    work->body = json_loadb(text, length, JSON_ALLOW_NUL, &error);
    if (!work->body)
        files_fault_set(&work->fault, 400, "the body is not JSON: %s", error.text);
    if (!work->body || read_request(work) || check_files(work) || make_temporary(work)) {
        refuse(work);
        return;
    }
    work->user = privileges_acting();
    http_request_on_gone(request, on_gone, work);
    ev_timer_start(agent->loop, &work->next);
}
