/*
 * filesystem_list.c - lists a directory. Links in it are not followed.
 *
 * The walk goes on between the loop's other events, and its answer is gathered as text: as JSON
 * values it would take several times the memory.
 */
#include "filesystem_service.h"

#include "connect_messages.h"
#include "connect_unary.h"
#include "directory_walk.h"
#include "entry_info.h"
#include "filesystem_request.h"
#include "privileges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 100000
#define TEXT_MAX ((size_t)64 * 1024 * 1024)
/* What one turn of the loop does at most. */
#define ENTRIES_PER_TURN 256

struct listing {
    struct ev_timer turn;
    agent_user user;
    http_request *request;
    directory_walk *walk;
    uint32_t depth;
    char *shown; /* how the client calls the directory, without a slash at its end */
    char *text;
    size_t length, capacity;
};

static void free_listing(struct listing *listing) {
    ev_timer_stop(http_request_loop(listing->request), &listing->turn);
    if (listing->walk)
        directory_walk_free(listing->walk);
    free(listing->shown);
    free(listing->text);
    free(listing);
}

static int append(struct listing *listing, const char *text, size_t length) {
    if (length > TEXT_MAX - listing->length) {
        errno = EOVERFLOW;
        return -1;
    }
    size_t need = listing->length + length;
    if (need > listing->capacity) {
        size_t capacity = need < 4096 ? 8192 : need * 2;
        char *grown = realloc(listing->text, capacity);
        if (!grown)
            return -1;
        listing->text = grown;
        listing->capacity = capacity;
    }
    memcpy(listing->text + listing->length, text, length);
    listing->length += length;
    return 0;
}

/* Adds the entry that the walk is at. *is_directory: it can be gone into. */
static int add_entry(struct listing *listing, bool *is_directory) {
    char shown[2 * PATH_MAX];
    snprintf(shown, sizeof shown, "%s%s", listing->shown, directory_walk_below(listing->walk));
    json_t *entry = entry_info_as(directory_walk_path(listing->walk), shown);
    *is_directory = false;
    if (!entry) /* it is gone already */
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    const char *type = json_string_value(json_object_get(entry, "type"));
    *is_directory = type && strcmp(type, "FILE_TYPE_DIRECTORY") == 0 &&
                    !json_object_get(entry, "symlinkTarget");
    char *text = json_dumps(entry, JSON_COMPACT);
    json_decref(entry);
    int failed = !text;
    if (!failed && listing->text[listing->length - 1] != '[')
        failed = append(listing, ",", 1);
    if (!failed)
        failed = append(listing, text, strlen(text));
    free(text);
    return failed ? -1 : 0;
}

static int take_entry(struct listing *listing) {
    bool is_directory;
    if (add_entry(listing, &is_directory))
        return -1;
    /* A directory that is gone, is none any more or is closed to us has no contents to show. */
    if (is_directory && directory_walk_depth(listing->walk) < listing->depth &&
        directory_walk_enter(listing->walk) && errno != ENOENT && errno != ENOTDIR &&
        errno != ELOOP && errno != EACCES)
        return -1;
    return 0;
}

/* The answer's text while it is sent. */
struct content {
    char *text;
    size_t length, sent;
};

static ssize_t read_content(void *user, char *to, size_t max) {
    struct content *content = user;
    size_t left = content->length - content->sent, part = left < max ? left : max;
    memcpy(to, content->text + content->sent, part);
    content->sent += part;
    return (ssize_t)part;
}

static void free_content(void *user) {
    struct content *content = user;
    free(content->text);
    free(content);
}

static void reply_list(struct listing *listing) {
    static const http_content functions = {read_content, free_content};
    struct content *content = calloc(1, sizeof *content);
    if (!content || append(listing, "]}", 2)) {
        free(content);
        connect_reply_error(listing->request, "resource_exhausted", "out of memory");
        return;
    }
    content->text = listing->text;
    content->length = listing->length;
    listing->text = NULL;
    http_reply_content(listing->request, 200, CONNECT_UNARY_TYPE, &functions, content,
                       content->length);
}

static void reply_failed(struct listing *listing, int error) {
    char text[FILESYSTEM_MESSAGE_SIZE];
    if (error != EOVERFLOW) {
        filesystem_reply_error(listing->request, "error reading directory",
                               directory_walk_path(listing->walk), error);
        return;
    }
    /* In the words by which clients know what is too large from what comes too often. */
    snprintf(text, sizeof text, "the list of '%s' would be larger than %d entries or %zu bytes",
             *listing->shown ? listing->shown : "/", ENTRIES_MAX, TEXT_MAX);
    connect_reply_error(listing->request, "resource_exhausted", text);
}

static void advance(struct ev_loop *loop, struct listing *listing) {
    walk_result result = WALK_BUSY;
    for (int i = 0; i < ENTRIES_PER_TURN && result != WALK_END; i++) {
        result = directory_walk_next(listing->walk);
        if (result == WALK_BUSY)
            i += ENTRIES_PER_TURN / 16;
        if (result == WALK_FAILED || (result == WALK_ENTRY && take_entry(listing))) {
            reply_failed(listing, errno);
            free_listing(listing);
            return;
        }
    }
    if (result == WALK_END) {
        reply_list(listing);
        free_listing(listing);
    } else {
        ev_timer_set(&listing->turn, 0.0, 0.0);
        ev_timer_start(loop, &listing->turn);
    }
}

static void on_turn(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)events;
    struct listing *listing = timer->data;
    privileges_act_as(listing->user);
    advance(loop, listing);
    privileges_act_as(AGENT_USER);
}

static void on_gone(void *user) {
    struct listing *listing = user;
    http_request *request = listing->request;
    free_listing(listing);
    http_reply(request, 204, NULL, NULL, 0); /* lets it go */
}

/* Replies when it cannot. */
static int open_walk(struct listing *listing, const char *path) {
    char text[FILESYSTEM_MESSAGE_SIZE], *real = realpath(path, NULL);
    if (real)
        listing->walk = directory_walk_open(real, ENTRIES_MAX);
    int error = errno;
    bool is_there = real != NULL;
    free(real);
    if (listing->walk)
        return 0;
    if (error == ELOOP || (error == ENOTDIR && is_there)) {
        snprintf(text, sizeof text,
                 error == ELOOP ? "cyclic symlink or chain of too many links at %s"
                                : "path is not a directory: %s",
                 path);
        connect_reply_error(listing->request, filesystem_code(error), text);
    } else {
        filesystem_reply_error(listing->request,
                               error == ENOENT ? "path not found:" : "cannot list the directory",
                               path, error);
    }
    return -1;
}

static void start(http_request *request, const char *path, uint32_t depth) {
    struct listing *listing = calloc(1, sizeof *listing);
    size_t length = strlen(path);
    if (!listing) {
        connect_reply_error(request, "resource_exhausted", "out of memory");
        return;
    }
    ev_timer_init(&listing->turn, on_turn, 0.0, 0.0);
    listing->turn.data = listing;
    listing->request = request;
    listing->user = privileges_acting();
    listing->depth = depth ? depth : 1;
    while (length > 0 && path[length - 1] == '/')
        length--;
    listing->shown = strndup(path, length);
    if (!listing->shown || append(listing, "{\"entries\":[", 12)) {
        connect_reply_error(request, "resource_exhausted", "out of memory");
        free_listing(listing);
    } else if (open_walk(listing, path)) {
        free_listing(listing);
    } else {
        http_request_on_gone(request, on_gone, listing);
        ev_timer_start(http_request_loop(request), &listing->turn);
    }
}

void filesystem_list_dir(struct agent *agent, http_request *request) {
    json_t *message = filesystem_read(request);
    uint32_t depth;
    if (!message)
        return;
    if (!filesystem_number(json_object_get(message, "depth"), &depth)) {
        connect_reply_error(request, "invalid_argument", "depth must be a whole number");
    } else {
        char *path = filesystem_path(agent, request, message, "path", connect_reply_error);
        if (path)
            start(request, path, depth);
        free(path);
    }
    json_decref(message);
}
