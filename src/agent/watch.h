/*
 * watch.h - watches a directory for changes, by inotify.
 *
 * Changes are reported as the official server (fsnotify) reports them: a rename is RENAME of the
 * old name and CREATE of the new one. With `recursive` new subdirectories are watched as soon as
 * they are seen, and what was made in them before that is reported too, once.
 */
#ifndef STEPBOX_WATCH_H
#define STEPBOX_WATCH_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct directory_watch directory_watch;

typedef struct watch_options {
    const char *path; /* absolute */
    bool recursive;
    bool include_entry;
    bool network_mounts; /* are watched too */
} watch_options;

typedef struct watch_listener {
    /* Changes from now on are seen. */
    void (*begun)(void *user);
    /* A FilesystemEvent of the protocol, whose reference is given. */
    void (*event)(void *user, json_t *event);
    /* It is over, for a reason that Connect has a code for (a literal): the watch has to be freed,
     * best here. */
    void (*end)(void *user, const char *code, const char *message);
} watch_listener;

/* Why a watch could not be started. */
typedef struct watch_fault {
    const char *code; /* a literal */
    char message[512];
} watch_fault;

/* The listener, which stays the caller's, is called later. NULL: *fault says why. */
directory_watch *watch_start(struct ev_loop *loop, const watch_options *options,
                             const watch_listener *listener, void *user, watch_fault *fault);
/* While it is paused there are no events; the kernel keeps some, and when it cannot any more the
 * watch ends. May be called from the listener's event(). */
void watch_pause(directory_watch *watch);
void watch_resume(directory_watch *watch);
/* Not from the listener's begun() or event(). */
void watch_free(directory_watch *watch);

#endif
