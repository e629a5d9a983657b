/*
 * filesystem_remove.c - removes a file or a tree, between the loop's other events, until the client
 * leaves.
 */
#include "filesystem_service.h"

#include "connect_messages.h"
#include "connect_unary.h"
#include "filesystem_request.h"
#include "path.h"
#include "privileges.h"
#include "tree_removal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What one turn of the loop removes at most. */
#define ENTRIES_PER_TURN 256

struct removal {
    struct ev_timer turn;
    agent_user user;
    http_request *request;
    char *path;
    tree_removal *tree;
};

static void free_removal(struct removal *removal) {
    ev_timer_stop(http_request_loop(removal->request), &removal->turn);
    if (removal->tree)
        tree_removal_free(removal->tree);
    free(removal->path);
    free(removal);
}

static void finish(struct removal *removal, int error) {
    http_request *request = removal->request;
    char text[FILESYSTEM_MESSAGE_SIZE];
    if (error == EBUSY) {
        snprintf(text, sizeof text, "cannot remove '%s': it is a mount point or in use",
                 removal->path);
        connect_reply_error(request, filesystem_code(error), text);
    } else if (error) {
        filesystem_reply_error(request, "cannot remove", removal->path, error);
    } else {
        connect_unary_reply(request, json_object());
    }
    free_removal(removal);
}

static void advance(struct ev_loop *loop, struct removal *removal) {
    for (int i = 0; i < ENTRIES_PER_TURN && !tree_removal_is_over(removal->tree); i++) {
        if (tree_removal_step(removal->tree)) {
            finish(removal, errno);
            return;
        }
    }
    if (tree_removal_is_over(removal->tree)) {
        finish(removal, 0);
        return;
    }
    ev_timer_set(&removal->turn, 0.0, 0.0);
    ev_timer_start(loop, &removal->turn);
}

static void on_turn(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)events;
    struct removal *removal = timer->data;
    privileges_act_as(removal->user);
    advance(loop, removal);
    privileges_act_as(AGENT_USER);
}

static void on_gone(void *user) {
    struct removal *removal = user;
    http_request *request = removal->request;
    free_removal(removal);
    http_reply(request, 204, NULL, NULL, 0); /* lets it go */
}

/* Whether the directory is the root, the home directory or one that leads there. */
static bool is_needed(const struct agent *agent, const char *path) {
    char up[PATH_MAX];
    struct stat target, st;
    if (lstat(path, &target) || !S_ISDIR(target.st_mode) || !realpath(agent->home, up))
        return false;
    for (;;) {
        if (stat(up, &st) == 0 && st.st_dev == target.st_dev && st.st_ino == target.st_ino)
            return true;
        char *slash = strrchr(up, '/');
        if (strcmp(up, "/") == 0 || !slash)
            return false;
        slash[slash == up] = '\0';
    }
}

static void refuse(http_request *request, const char *path, const char *why, const char *code) {
    char text[FILESYSTEM_MESSAGE_SIZE];
    snprintf(text, sizeof text, "cannot remove '%s': %s", path, why);
    connect_reply_error(request, code, text);
}

/* Takes the path. */
static void start(http_request *request, char *path) {
    struct removal *removal = calloc(1, sizeof *removal);
    if (!removal) {
        connect_reply_error(request, "resource_exhausted", "out of memory");
        free(path);
        return;
    }
    removal->request = request;
    removal->path = path;
    removal->user = privileges_acting();
    ev_timer_init(&removal->turn, on_turn, 0.0, 0.0);
    removal->turn.data = removal;
    removal->tree = tree_removal_start(path);
    if (!removal->tree) {
        finish(removal, errno == ENOENT ? 0 : errno); /* what is not there needs no removing */
        return;
    }
    http_request_on_gone(request, on_gone, removal);
    ev_timer_start(http_request_loop(request), &removal->turn);
}

static void remove_path(const struct agent *agent, http_request *request, char *path) {
    size_t length;
    const char *name = path_name(path, &length);
    if (*name == '.' && (length == 1 || (length == 2 && name[1] == '.')))
        refuse(request, path, "the path ends with a dot", "invalid_argument");
    else if (is_needed(agent, path))
        refuse(request, path, "the sandbox needs this directory", "failed_precondition");
    else {
        start(request, path);
        return;
    }
    free(path);
}

void filesystem_remove(struct agent *agent, http_request *request) {
    json_t *message = filesystem_read(request);
    if (!message)
        return;
    char *path = filesystem_path(agent, request, message, "path", connect_reply_error);
    if (path)
        remove_path(agent, request, path);
    json_decref(message);
}
