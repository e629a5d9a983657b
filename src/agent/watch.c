/* watch.c - see watch.h. Events of the kernel, and what they mean for the tree of directories. */
#include "watch_internal.h"

#include "entry_info.h"
#include "filesystem_request.h"
#include "json_text.h"
#include "mount_kind.h"
#include "privileges.h"
#include "watch_descriptor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What one turn of the loop does at most. */
#define EVENTS_PER_TURN 256
#define ENTRIES_PER_TURN 512

static void on_io(struct ev_loop *loop, struct ev_io *io, int events);
static void on_turn(struct ev_loop *loop, struct ev_timer *timer, int events);

int watch_end(directory_watch *watch, const char *code, const char *message) {
    watch_scan_stop(watch);
    ev_io_stop(watch->loop, &watch->io);
    ev_timer_stop(watch->loop, &watch->turn);
    watch->listener->end(watch->user, code, message);
    return -1;
}

int watch_end_for(directory_watch *watch, const char *what, const char *path, int error) {
    char text[FILESYSTEM_MESSAGE_SIZE];
    filesystem_message(text, what, path, error);
    return watch_end(watch, filesystem_code(error), text);
}

void watch_report(directory_watch *watch, const watch_node *node, const char *name,
                  watch_change change) {
    static const char *const types[] = {
        [WATCH_CREATE] = "EVENT_TYPE_CREATE", [WATCH_WRITE] = "EVENT_TYPE_WRITE",
        [WATCH_REMOVE] = "EVENT_TYPE_REMOVE", [WATCH_RENAME] = "EVENT_TYPE_RENAME",
        [WATCH_CHMOD] = "EVENT_TYPE_CHMOD",
    };
    char relative[PATH_MAX + NAME_MAX], path[2 * PATH_MAX], shown[2 * PATH_MAX];
    if (!watch_tree_path(node, name, relative, sizeof relative))
        return; /* no directory that is watched is so deep */
    json_t *entry = NULL;
    /* Of what is gone nothing is told: another thing may have its name now. */
    if (watch->include_entry && change != WATCH_REMOVE && change != WATCH_RENAME) {
        bool is_root = !node->parent && !*name;
        snprintf(path, sizeof path, "%s/%s", watch->path, relative);
        snprintf(shown, sizeof shown, "%s%s%s", watch->shown, is_root && *watch->shown ? "" : "/",
                 is_root ? "" : relative);
        entry = entry_info_as(path, shown);
    }
    json_t *event = json_pack("{s:o, s:s, s:o*}", "name", json_text(relative, strlen(relative)),
                              "type", types[change], "entry", entry);
    if (event)
        watch->listener->event(watch->user, event);
}

/* Whether the event of a name that appeared was reported already, when its directory was read. */
static bool was_seen(const directory_watch *watch, watch_node *node, const char *name) {
    if (!node->seen)
        return false;
    if (watch->position >= node->seen_until) {
        json_decref(node->seen);
        node->seen = NULL;
        return false;
    }
    return json_object_del(node->seen, name) == 0;
}

static int take_named(directory_watch *watch, watch_node *node, uint32_t mask, const char *name) {
    bool is_directory = watch->recursive && mask & IN_ISDIR;
    if (mask & (IN_CREATE | IN_MOVED_TO)) {
        if (was_seen(watch, node, name))
            return 0;
        watch_report(watch, node, name, WATCH_CREATE);
        return is_directory ? watch_adopt(watch, node, name, true) : 0;
    }
    if (mask & (IN_DELETE | IN_MOVED_FROM)) {
        was_seen(watch, node, name); /* it may appear anew */
        watch_report(watch, node, name, mask & IN_DELETE ? WATCH_REMOVE : WATCH_RENAME);
        watch_node *child =
            is_directory && mask & IN_MOVED_FROM ? watch_tree_child(node, name) : NULL;
        if (child)
            child->moved = true;
    } else if (mask & (IN_MODIFY | IN_ATTRIB)) {
        watch_report(watch, node, name, mask & IN_MODIFY ? WATCH_WRITE : WATCH_CHMOD);
    }
    return 0;
}

static int end_of_root(directory_watch *watch, const char *how, const char *code) {
    char text[FILESYSTEM_MESSAGE_SIZE];
    snprintf(text, sizeof text, "the watched directory '%.*s' %s", PATH_MAX, watch->shown, how);
    return watch_end(watch, code, text);
}

/* Events of the watched directories themselves; those of subdirectories come from their parents
 * too. */
static int take_own(directory_watch *watch, watch_node *node, uint32_t mask) {
    bool is_root = !node->parent;
    if (is_root && mask & IN_DELETE_SELF) {
        watch_report(watch, node, "", WATCH_REMOVE);
        return end_of_root(watch, "was removed", "not_found");
    }
    if (is_root && mask & IN_MOVE_SELF) {
        watch_report(watch, node, "", WATCH_RENAME);
        return end_of_root(watch, "was moved away", "not_found");
    }
    if (is_root && mask & (IN_UNMOUNT | IN_IGNORED))
        return end_of_root(watch, "is on a file system that was unmounted", "unavailable");
    if (is_root && mask & IN_ATTRIB)
        watch_report(watch, node, "", WATCH_CHMOD);
    /* One that was moved within the tree has been found at its new place before this. */
    if (!is_root && (mask & IN_IGNORED || (mask & IN_MOVE_SELF && node->moved)))
        watch_forget(watch, node);
    return 0;
}

static int take_event(directory_watch *watch, const struct inotify_event *event) {
    if (event->mask & IN_Q_OVERFLOW)
        return watch->lagged ? watch_end(watch, "resource_exhausted",
                                         "changes were lost: they were not read fast enough")
                             : watch_end(watch, "data_loss",
                                         "changes were lost: there were too many at once");
    watch_node *node = watch_tree_find(&watch->tree, event->wd);
    if (!node)
        return 0; /* of a directory that is not watched any more */
    return event->len > 0 ? take_named(watch, node, event->mask, event->name)
                          : take_own(watch, node, event->mask);
}

/* Fills the empty buffer. False: nothing is there yet. */
static bool fill(directory_watch *watch) {
    ssize_t got = read(watch->fd, watch->buffer, sizeof watch->buffer);
    watch->at = 0;
    watch->end = got > 0 ? (size_t)got : 0;
    if (got < 0 && errno == EAGAIN) {
        watch->lagged = false;
        watch_scan_forget_seen(watch);
    }
    return got > 0;
}

/* Does what can be done now. */
static void advance(directory_watch *watch) {
    ev_io_stop(watch->loop, &watch->io);
    ev_timer_stop(watch->loop, &watch->turn);
    if (!watch->tree.root && watch_adopt(watch, NULL, "", false))
        return;
    for (int i = 0; i < EVENTS_PER_TURN && !watch->paused; i++) {
        if (watch->scan_first) {
            if (watch_scan_some(watch, ENTRIES_PER_TURN))
                return;
            if (watch->scan_first)
                break;
        }
        if (!watch->begun) {
            watch->begun = true;
            watch->listener->begun(watch->user);
        }
        if (watch->at == watch->end && !fill(watch)) {
            ev_io_start(watch->loop, &watch->io);
            return;
        }
        struct inotify_event *event = (struct inotify_event *)(watch->buffer + watch->at);
        size_t size = sizeof *event + event->len;
        watch->at += size;
        if (take_event(watch, event))
            return;
        watch->position += size;
    }
    if (!watch->paused) {
        ev_timer_set(&watch->turn, 0.0, 0.0);
        ev_timer_start(watch->loop, &watch->turn);
    }
}

static void act(directory_watch *watch) {
    privileges_act_as(watch->agent_user);
    advance(watch);
    privileges_act_as(AGENT_USER);
}

static void on_io(struct ev_loop *loop, struct ev_io *io, int events) {
    (void)loop, (void)events;
    act(io->data);
}

static void on_turn(struct ev_loop *loop, struct ev_timer *timer, int events) {
    (void)loop, (void)events;
    act(timer->data);
}

void watch_pause(directory_watch *watch) {
    watch->paused = watch->lagged = true;
    ev_io_stop(watch->loop, &watch->io);
    ev_timer_stop(watch->loop, &watch->turn);
}

void watch_resume(directory_watch *watch) {
    if (!watch->paused)
        return;
    watch->paused = false;
    ev_timer_set(&watch->turn, 0.0, 0.0);
    ev_timer_start(watch->loop, &watch->turn);
}

void watch_free(directory_watch *watch) {
    ev_io_stop(watch->loop, &watch->io);
    ev_timer_stop(watch->loop, &watch->turn);
    watch_scan_stop(watch);
    if (watch->tree.root)
        watch_forget(watch, watch->tree.root);
    watch_tree_free(&watch->tree);
    if (watch->fd >= 0)
        watch_descriptor_give(watch->fd);
    free(watch->path);
    free(watch->shown);
    free(watch);
}

static directory_watch *fail(directory_watch *watch, watch_fault *fault, const char *code,
                             const char *what, const char *path) {
    fault->code = code;
    snprintf(fault->message, sizeof fault->message, "%s%.300s", what, path);
    if (watch)
        watch_free(watch);
    return NULL;
}

static directory_watch *fail_for(directory_watch *watch, watch_fault *fault, const char *path,
                                 int error) {
    char why[FILESYSTEM_ERROR_SIZE], text[FILESYSTEM_ERROR_SIZE + 20];
    filesystem_describe(error, why);
    snprintf(text, sizeof text, "%s: path ", why);
    return fail(watch, fault, filesystem_code(error), error == ENOENT ? "path not found: " : text,
                path);
}

static directory_watch *new_watch(struct ev_loop *loop, const watch_options *options) {
    directory_watch *watch = calloc(1, sizeof *watch);
    size_t length = strlen(options->path);
    if (!watch)
        return NULL;
    watch->loop = loop;
    watch->agent_user = privileges_acting();
    watch->fd = -1;
    ev_io_init(&watch->io, on_io, 0, EV_READ);
    ev_timer_init(&watch->turn, on_turn, 0.0, 0.0);
    watch->io.data = watch->turn.data = watch;
    watch->recursive = options->recursive;
    watch->include_entry = options->include_entry;
    watch->network_mounts = options->network_mounts;
    while (length > 0 && options->path[length - 1] == '/')
        length--;
    watch->shown = strndup(options->path, length);
    return watch;
}

directory_watch *watch_start(struct ev_loop *loop, const watch_options *options,
                             const watch_listener *listener, void *user, watch_fault *fault) {
    struct stat st;
    struct statfs mount;
    const char *path = options->path;
    directory_watch *watch = new_watch(loop, options);
    if (!watch || !watch->shown)
        return fail_for(watch, fault, path, ENOMEM);
    watch->path = realpath(path, NULL);
    if (!watch->path || stat(watch->path, &st) || statfs(watch->path, &mount))
        return fail_for(watch, fault, path, errno);
    if (!S_ISDIR(st.st_mode))
        return fail(watch, fault, "invalid_argument", "path is not a directory: ", path);
    if (!watch->network_mounts && mount_is_network(&mount))
        return fail(watch, fault, "invalid_argument",
                    "cannot watch path on network filesystem: ", path);
    watch->fd = watch_descriptor_take();
    if (watch->fd < 0)
        return fail(watch, fault, "resource_exhausted",
                    errno == EMFILE ? "there are too many watches or open files (the limit "
                                      "fs.inotify.max_user_instances): cannot watch "
                                    : "cannot watch ",
                    path);
    ev_io_set(&watch->io, watch->fd, EV_READ);
    watch->listener = listener;
    watch->user = user;
    /* Whatever happens is told from the loop. */
    ev_timer_start(loop, &watch->turn);
    return watch;
}
