/*
 * watch_internal.h - what the files of a watch share.
 */
#ifndef STEPBOX_WATCH_INTERNAL_H
#define STEPBOX_WATCH_INTERNAL_H

#include "privileges.h"
#include "watch.h"
#include "watch_tree.h"

#include <dirent.h>
#include <limits.h>
#include <sys/inotify.h>

#define WATCH_DIRECTORIES_MAX 100000

typedef enum watch_change {
    WATCH_CREATE,
    WATCH_WRITE,
    WATCH_REMOVE,
    WATCH_RENAME,
    WATCH_CHMOD
} watch_change;

struct directory_watch {
    struct ev_loop *loop;
    const watch_listener *listener;
    void *user;
    char *path;  /* without links */
    char *shown; /* as the client gave it, without slashes at its end */
    bool recursive, include_entry, network_mounts;
    agent_user agent_user; /* with whose rights it looks */
    bool begun, paused;
    bool lagged; /* paused since the kernel's queue was last empty */
    int fd;
    struct ev_io io;
    struct ev_timer turn; /* of work that is left */
    watch_tree tree;
    /* Directories that have to be read, the first one's stream, and its path. */
    watch_node *scan_first, *scan_last;
    DIR *scan;
    /* Events that were read and not used yet. */
    size_t at, end;
    uint64_t position; /* bytes of events that were used so far */
    size_t seen_count; /* names that were kept since the kernel's queue was last empty */
    char buffer[16 * 1024] __attribute__((aligned(__alignof__(struct inotify_event))));
};

/* Reports a change of a name in a node's directory, or of itself (""). */
void watch_report(directory_watch *watch, const watch_node *node, const char *name,
                  watch_change change);

/* Ends the watch: it may be gone when this returns. Always -1. */
int watch_end(directory_watch *watch, const char *code, const char *message);
int watch_end_for(directory_watch *watch, const char *what, const char *path, int error);

/* Watches a directory of that name in a node's. One that cannot be watched because it is gone,
 * is no directory or is closed to us is passed over. report: what is in it is new. 0; -1: the watch
 * has ended. */
int watch_adopt(directory_watch *watch, watch_node *parent, const char *name, bool report);
/* Forgets a directory and all below it. */
void watch_forget(directory_watch *watch, watch_node *node);
void watch_scan_add(directory_watch *watch, watch_node *node, bool report);
/* Reads on in the directories that have to be read, up to so many entries of them. 0, also when
 * nothing is left; -1: the watch has ended. */
int watch_scan_some(directory_watch *watch, int entries);
void watch_scan_stop(directory_watch *watch);
/* All events that waited have been used: no name needs to be kept. */
void watch_scan_forget_seen(directory_watch *watch);

#endif
